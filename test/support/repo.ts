/** Real repositories in temporary folders. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { cleanEnv } from './clean-env.ts'
import { memoryRoot } from './temp-folders.ts'

export { cleanEnv }

/** A folder that is gone when the test has ended. Its path has no symlinks in it. */
export function tempFolder(parent = os.tmpdir()): string {
  const folder = mkdtempSync(path.join(parent, 'offshoot-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The same in memory, where there is such a place: for tests of a thousand cases, to which a disk matters little. */
export function quickFolder(): string {
  return tempFolder(memoryRoot())
}

export interface TestRepo {
  /** The user's checkout. */
  readonly dir: string
  /** A home folder of its own; the state folder is `state` in it. */
  readonly home: string
  readonly env: Record<string, string>
  git(...args: string[]): string
  write(name: string, content: string | Uint8Array): void
}

/** A repository on branch main with `files` committed. */
export function testRepo(
  files: Record<string, string> = { 'a.txt': 'one\n' },
  folder = tempFolder(),
): TestRepo {
  const dir = path.join(folder, 'repo')
  const env = cleanEnv(folder)
  const repo: TestRepo = {
    dir,
    home: folder,
    env,
    git: (...args) =>
      execFileSync('git', args, { cwd: dir, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }),
    write(name, content) {
      mkdirSync(path.dirname(path.join(dir, name)), { recursive: true })
      writeFileSync(path.join(dir, name), content)
    },
  }
  mkdirSync(dir, { recursive: true })
  repo.git('init', '--quiet', '--initial-branch=main')
  for (const [name, content] of Object.entries(files)) repo.write(name, content)
  repo.git('add', '--all')
  repo.git('commit', '--quiet', '--allow-empty', '--message=First commit')
  return repo
}

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** The last line of stdout as JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever the command printed
  readonly json: any
}

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

/** Runs the real command in the repository, as a process of its own. */
export function offshoot(repo: TestRepo, ...args: string[]): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...args], {
      cwd: repo.dir,
      env: repo.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk) => (stdout += chunk))
    child.stderr.on('data', (chunk) => (stderr += chunk))
    child.on('error', reject)
    child.on('close', (code) => {
      const last = stdout.trimEnd().split('\n').at(-1) ?? ''
      resolve({ code, stdout, stderr, json: last.startsWith('{') ? JSON.parse(last) : undefined })
    })
  })
}
