/** A person who types at a terminal, looks at its screen, and changes its size: the real command in a pty. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { TestRepo } from './repo.ts'
import { terminal, type Vt } from './vt.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

export interface Pty {
  readonly screen: Vt
  /** All that the terminal received. */
  readonly received: string
  type(keys: string): void
  /** Waits until the screen shows the text, or fails with what it shows instead. */
  shows(what: string | RegExp): Promise<void>
  /** Waits until it does not show it any more. */
  hides(what: string | RegExp): Promise<void>
  resize(columns: number, rows: number): void
  /** The process of the command. */
  readonly pid: number
  /** The exit code of the command, once it has ended. */
  ended(): Promise<number>
  /** What `stty -g` tells of the terminal before the command, and after it. */
  modes(): { readonly before: string; readonly after: string }
  /** Takes the terminal away, as a window does that is closed. */
  hangUp(): void
  /** Ends whatever goes on in it. */
  close(): void
}

export interface PtyOptions {
  readonly columns: number
  readonly rows?: number
  readonly env?: NodeJS.ProcessEnv
  /** How long something may take to be shown. */
  readonly waitMs?: number
}

let count = 0

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`

export function openPty(
  repo: Pick<TestRepo, 'dir' | 'home' | 'env'>,
  args: readonly string[],
  { columns, rows = 24, env = {}, waitMs = 20_000 }: PtyOptions,
): Pty {
  const folder = path.join(repo.home, `pty-${process.pid}-${++count}`)
  mkdirSync(folder)
  const [tty, before, pid, code, after] = ['tty', 'before', 'pid', 'code', 'after'].map((name) =>
    path.join(folder, name),
  ) as [string, string, string, string, string]
  const command = [process.execPath, bin, ...args].map(quoted).join(' ')
  const script = [
    // Ctrl-C is for the command, and this shell goes on after it.
    'trap : INT',
    `stty rows ${rows} cols ${columns}`,
    `tty > ${quoted(tty)}`,
    `stty -g > ${quoted(before)}`,
    `sh -c ${quoted(`echo $$ > ${quoted(pid)}; exec ${command}`)}`,
    `echo $? > ${quoted(code)}`,
    `stty -g > ${quoted(after)}`,
  ].join('; ')
  const child = spawn('script', ['--quiet', '--command', script, '/dev/null'], {
    cwd: repo.dir,
    env: { ...repo.env, SHELL: '/bin/sh', TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const screen = terminal(columns, rows)
  const waiting = new Set<() => void>()
  let received = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    received += text
    screen.feed(text)
    for (const look of waiting) look()
  })
  const over = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').trim() : '')

  function until(isThere: () => boolean, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (error?: Error) => {
        waiting.delete(look)
        clearTimeout(late)
        if (error) reject(error)
        else resolve()
      }
      const look = () => isThere() && end()
      const late = setTimeout(
        () => end(new Error(`waited in vain until ${what}; the screen:\n${screen.text()}`)),
        waitMs,
      )
      waiting.add(look)
      look()
    })
  }

  const isShown = (what: string | RegExp) =>
    typeof what === 'string' ? screen.text().includes(what) : what.test(screen.text())
  return {
    screen,
    get received() {
      return received
    },
    type: (keys) => void child.stdin.write(keys),
    shows: (what) => until(() => isShown(what), `${String(what)} is shown`),
    hides: (what) => until(() => !isShown(what), `${String(what)} is not shown`),
    resize(toColumns, toRows) {
      screen.resize(toColumns, toRows)
      const { stderr, status } = spawnSync(
        'stty',
        ['-F', read(tty), 'rows', String(toRows), 'cols', String(toColumns)],
        { encoding: 'utf8' },
      )
      if (status !== 0) throw new Error(stderr)
    },
    get pid() {
      return Number(read(pid))
    },
    async ended() {
      await over
      return Number(read(code) || Number.NaN)
    },
    modes: () => ({ before: read(before), after: read(after) }),
    hangUp: () => void child.kill('SIGKILL'),
    close() {
      child.stdin.end()
      child.kill()
    },
  }
}
