/** A `git` on the PATH that notes when it began and ended, to see how many ran at once. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

export interface GitSpans {
  /** The folder for the PATH. */
  readonly bin: string
  /** The commands since the last look, in the order in which they began, and the most that ran at a time. */
  take(): { commands: string[]; atOnce: number }
}

export function recordSpans(folder: string): GitSpans {
  const git = execFileSync('which', ['git'], { encoding: 'utf8' }).trim()
  const [bin, log] = [path.join(folder, 'spans-bin'), path.join(folder, 'spans')]
  mkdirSync(bin, { recursive: true })
  // One line at a time is appended whole, so that the order of lines is that of the events.
  const lines = [
    '#!/bin/sh',
    `echo "+ $1" >> '${log}'`,
    `'${git}' "$@"`,
    'code=$?',
    `echo "- $1" >> '${log}'`,
    'exit $code',
    '',
  ]
  writeFileSync(path.join(bin, 'git'), lines.join('\n'))
  chmodSync(path.join(bin, 'git'), 0o755)
  return {
    bin,
    take() {
      const events = existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : []
      rmSync(log, { force: true })
      let [running, atOnce] = [0, 0]
      for (const event of events) {
        running += event.startsWith('+') ? 1 : -1
        atOnce = Math.max(atOnce, running)
      }
      return {
        commands: events.filter((event) => event.startsWith('+')).map((event) => event.slice(2)),
        atOnce,
      }
    },
  }
}
