/** A `git` on the PATH that notes how it was called, and then is git. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

export interface GitCalled {
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** What git takes for config from the environment; of a key given twice the last counts. */
  readonly config: Readonly<Record<string, string>>
}

export interface GitRecord {
  /** The folder for the PATH. */
  readonly bin: string
  /** All calls since the last look. */
  take(): GitCalled[]
}

/** What the shell itself adds. */
const ofTheShell = new Set(['PWD', 'OLDPWD', 'SHLVL', '_'])

export function recordGit(folder: string): GitRecord {
  const git = execFileSync('which', ['git'], { encoding: 'utf8' }).trim()
  const [bin, notes] = [path.join(folder, 'bin'), path.join(folder, 'notes')]
  for (const made of [bin, notes]) mkdirSync(made, { recursive: true })
  const shim = path.join(bin, 'git')
  const lines = [
    '#!/bin/sh',
    `{ pwd; printf '%s\\0' "$#" "$@"; env -0; } > '${notes}'/$$`,
    `exec '${git}' "$@"`,
    '',
  ]
  writeFileSync(shim, lines.join('\n'))
  chmodSync(shim, 0o755)
  return {
    bin,
    take() {
      const calls = readdirSync(notes).map((name) => parsed(readFileSync(path.join(notes, name), 'utf8')))
      for (const name of readdirSync(notes)) rmSync(path.join(notes, name))
      return calls
    },
  }
}

function parsed(note: string): GitCalled {
  const line = note.indexOf('\n')
  const [count = '0', ...words] = note.slice(line + 1).split('\0')
  const args = words.slice(0, Number(count))
  const variables = words.slice(args.length).filter(Boolean)
  const env = Object.fromEntries(
    variables
      .map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)] as const)
      .filter(([name]) => !ofTheShell.has(name)),
  )
  const config = Object.fromEntries(
    Array.from({ length: Number(env.GIT_CONFIG_COUNT ?? 0) }, (_, n) => [
      env[`GIT_CONFIG_KEY_${n}`] ?? '',
      env[`GIT_CONFIG_VALUE_${n}`] ?? '',
    ]),
  )
  return { args, cwd: note.slice(0, line), env, config }
}
