import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export interface Program {
  readonly child: ChildProcess
  readonly pid: number
  /** The next line it prints; throws when it ends without one. */
  line(): Promise<string>
  /** Every line not yet read, once it has ended. */
  rest(): Promise<string[]>
  /** Ends it as a power cut would, and waits until it is gone. */
  kill(): Promise<void>
}

/** Runs a TypeScript file as a process of its own, which does not outlive the test. */
export function runProgram(file: URL, ...args: string[]): Program {
  const child = spawn(process.execPath, [fileURLToPath(file), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  return {
    child,
    pid: child.pid!,
    kill,
    async line() {
      const { done, value } = await lines.next()
      if (done) throw new Error(`${file.pathname} ended with ${child.exitCode ?? child.signalCode}`)
      return value
    },
    async rest() {
      const read: string[] = []
      for (let next = await lines.next(); !next.done; next = await lines.next()) read.push(next.value)
      await ended
      if (child.exitCode !== 0)
        throw new Error(`${file.pathname} ended with ${child.exitCode ?? child.signalCode}`)
      return read
    },
  }
}

/** For what the operating system does in its own time and tells nobody. */
export async function until(condition: () => boolean, what: string, ms = 10_000): Promise<void> {
  const deadline = performance.now() + ms
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** Whether it runs code: a zombie does not. */
export function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return stdout.trim() !== '' && !stdout.startsWith('Z')
}

/** For clean-up: what is gone already is fine. */
export function killHard(...pids: number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // Gone.
    }
  }
}
