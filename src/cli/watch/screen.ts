/** The alternate screen of a terminal, in raw mode, and the way back to the terminal as it was. */
import { once } from 'node:events'
import { write } from '../stdout.ts'
import { keysOf } from './keys.ts'

export interface Screen {
  readonly size: { readonly width: number; readonly height: number }
  /** Writes the rows that have changed since the last time. */
  draw(lines: readonly string[]): void
  /** Gives the terminal back, to a program or for good; `enter` takes it again. */
  leave(): void
  enter(): void
  /** Waits for one key, or for the signal, outside of the screen. */
  anyKey(words: string, signal: AbortSignal): Promise<void>
}

interface Heard {
  /** The keys that came together. */
  onKeys(keys: readonly string[]): void
  onResize(): void
}

// No line wraps, whatever a terminal takes for the width of a letter.
const start = '\u001B[?1049h\u001B[?7l\u001B[?25l\u001B[2J'
const end = '\u001B[?25h\u001B[?7h\u001B[?1049l'

export const canShow = (env: NodeJS.ProcessEnv) =>
  process.stdin.isTTY && process.stdout.isTTY && env.TERM !== 'dumb'

/** Enters the screen. It is left again with the process, however that ends, unless it is killed. */
export function openScreen({ onKeys, onResize }: Heard): Screen {
  const { stdin, stdout } = process
  const wasRaw = stdin.isRaw
  let drawn: readonly string[] | undefined
  let isOpen = false
  const take = (sent: Buffer) => onKeys(keysOf(sent.toString()))
  const resize = () => {
    if (!isOpen) return
    drawn = undefined
    onResize()
  }
  // A terminal that is gone also sends SIGHUP, which ends the command.
  const ignore = () => {}
  const leave = () => {
    if (!isOpen) return
    isOpen = false
    process.off('exit', leave)
    stdout.off('resize', resize)
    stdin.off('data', take).off('error', ignore).pause()
    try {
      write(end)
      stdin.setRawMode(wasRaw)
    } catch {
      // The terminal is gone.
    }
  }
  const enter = () => {
    if (isOpen) return
    isOpen = true
    drawn = undefined
    process.on('exit', leave)
    stdout.on('resize', resize)
    write(start)
    stdin.setRawMode(true)
    stdin.on('data', take).on('error', ignore).resume()
  }
  enter()
  return {
    get size() {
      return { width: stdout.columns || 80, height: stdout.rows || 24 }
    },
    draw(lines) {
      if (!isOpen) return
      const before = drawn
      const changed = lines.flatMap((line, row) => (before?.[row] === line ? [] : [rowText(line, row)]))
      drawn = lines
      if (changed.length > 0) write(`${before ? '' : '\u001B[2J'}${changed.join('')}`)
    },
    leave,
    enter,
    async anyKey(words, signal) {
      if (signal.aborted) return
      write(words)
      stdin.setRawMode(true)
      stdin.resume()
      await once(stdin, 'data', { signal }).catch(() => {})
      stdin.setRawMode(wasRaw)
      stdin.pause()
      write('\r\n')
    },
  }
}

const rowText = (line: string, row: number) => `\u001B[${row + 1};1H\u001B[2K${line}`
