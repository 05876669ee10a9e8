/** Processes that run histories side by side, in memory. */
import { type ChildProcess, fork } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { memoryFolder } from '../faults/memory-folder.ts'
import { bundled } from '../support/bundle.ts'
import { cleanEnv } from '../support/clean-env.ts'
import type { HistoryResult, Tally } from './run-history.ts'
import type { Wanted } from './history-worker.ts'

export interface Result extends Omit<HistoryResult, 'tally'> {
  readonly name: string
  readonly tally: Tally | undefined
}

export class WorkerPool {
  readonly #root = memoryFolder('sim')
  readonly #workers: ChildProcess[] = []

  static async of(count: number): Promise<WorkerPool> {
    const pool = new WorkerPool()
    const programOf = (name: string) => bundled(path.join(import.meta.dirname, name), pool.#root)
    const [worker, child] = [await programOf('history-worker.ts'), await programOf('verb-child.ts')]
    for (let n = 0; n < count; n++) pool.#workers.push(pool.#hire(worker, child, n))
    return pool
  }

  #hire(worker: string, child: string, n: number): ChildProcess {
    const folder = path.join(this.#root, `worker-${n}`)
    mkdirSync(folder)
    const env = { ...cleanEnv(folder), NODE_COMPILE_CACHE: path.join(this.#root, 'cache') }
    // The more memory a process has, the longer it takes to start a git from it.
    const execArgv = ['--max-old-space-size=96', '--max-semi-space-size=1']
    return fork(worker, [folder, child], { env, execArgv })
  }

  /** Hands each history to the next free worker; the results come as they are ready. */
  async run(wanted: Iterable<Wanted>, onResult: (result: Result) => void): Promise<void> {
    const queue = wanted[Symbol.iterator]()
    await Promise.all(
      this.#workers.map(async (worker) => {
        for (let next = queue.next(); !next.done; next = queue.next()) onResult(await ask(worker, next.value))
      }),
    )
  }

  async end(): Promise<void> {
    const gone = this.#workers.map((worker) => new Promise((resolve) => worker.once('exit', resolve)))
    for (const worker of this.#workers) worker.disconnect()
    await Promise.all(gone)
    rmSync(this.#root, { recursive: true, force: true })
  }
}

/** A history takes seconds. */
const longest = 5 * 60_000

function ask(worker: ChildProcess, wanted: Wanted): Promise<Result> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${wanted.name} comes to no end.`)), longest)
    const onExit = () => reject(new Error(`The worker ended while it ran ${wanted.name}.`))
    worker.once('exit', onExit)
    worker.once('message', (result: Result) => {
      clearTimeout(late)
      worker.off('exit', onExit)
      resolve(result)
    })
    worker.send(wanted)
  })
}
