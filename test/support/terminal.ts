/** A person at a terminal: the real command in a pty, and what is typed once something is to be read there. */
import { spawn, spawnSync } from 'node:child_process'
import path from 'node:path'
import type { TestRepo } from './repo.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

export const noTerminal =
  process.platform === 'linux' && spawnSync('script', ['--version']).status === 0
    ? false
    : 'the program script of util-linux is missing, so there is no terminal'

/** What to type each time that the text is to be read again after what was typed before. */
export interface Typed {
  readonly after: string
  readonly type: string
}

export interface TerminalOptions {
  readonly rows?: number
  readonly columns?: number
  /** The Node that runs the command. */
  readonly node?: string
  /** Where stdin comes from, if not from the terminal: `< /dev/null`. */
  readonly stdin?: string
  /** How long it may take. */
  readonly waitMs?: number
}

/** All that the terminal showed, without colours and carriage returns. */
export function atTerminal(
  repo: TestRepo,
  args: readonly string[],
  typed: readonly Typed[],
  { rows = 24, columns = 80, node = process.execPath, stdin = '', waitMs = 60_000 }: TerminalOptions = {},
): Promise<string> {
  const quoted = [node, bin, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
  const command = `stty rows ${rows} cols ${columns}; ${quoted.join(' ')} ${stdin}`
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    cwd: repo.dir,
    env: { ...repo.env, SHELL: '/bin/sh', TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  // A question that never comes is one that was not asked: what was shown instead fails the test.
  const late = setTimeout(() => child.kill(), waitMs)
  const left = [...typed]
  let shown = ''
  let from = 0
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
    const next = left[0]
    const at = next ? shown.indexOf(next.after, from) : -1
    if (!next || at === -1) return
    left.shift()
    from = at + next.after.length
    child.stdin.write(next.type)
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', () => {
      clearTimeout(late)
      child.stdin.end()
      // oxlint-disable-next-line no-control-regex -- the sequences of colours and of the cursor
      resolve(shown.replace(/\u001B\[[0-9;?]*[A-Za-z]/g, '').replaceAll('\r', ''))
    })
  })
}
