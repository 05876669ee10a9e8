/** Puts one fault in front of, in the middle of, or behind the Nth effect of whatever runs on composed ports. */
import type { ComposeOptions } from '../../src/compose/full.ts'
import { effects } from '../../src/core/ports/effects.ts'
import type { GitExec } from '../../src/git/exec.ts'
import { type Death, dieAt, hasDied } from './faults-shim.ts'

type Around = NonNullable<ComposeOptions['around']>

export interface FaultPlan {
  /**
   * `kill` ends this process with SIGKILL. The errors are thrown as the system throws them. `hang` never comes back.
   * `cancel` pulls the signal of the verb. `git` lets the git child die and this process live. `meanwhile` lets somebody
   * else do something; no call fails.
   */
  readonly kind: 'kill' | 'eio' | 'enospc' | 'eacces' | 'hang' | 'cancel' | 'git' | 'meanwhile'
  /** Which effect, counted from 1. */
  readonly at: number
  /** A pattern: only effects whose names it fits are counted. */
  readonly among?: string
  readonly when: 'before' | 'during' | 'after'
  /** Every later effect fails as well: the disk stays full. */
  readonly from?: true
  /** What becomes of a git child that is running when we are killed; `unrecorded`: we die before it is on record. */
  readonly child?: 'survives' | 'dies' | 'frozen' | 'unrecorded'
  /** Git dies then, through the shim in that folder. */
  readonly shimmed?: { readonly n: Death; readonly shim: string }
}

export interface Fault {
  readonly around: Around
  /** The names of all effects so far, in order. */
  readonly points: readonly string[]
  /** Whether the fault has come to pass. */
  readonly hit: boolean
}

/** `onHit` is told just before it happens; `act` is what a cancel calls, and what somebody else does meanwhile. */
export function withFault(
  plan: FaultPlan | undefined,
  onHit: (point: string) => void = () => {},
  act: () => void = () => {},
): Fault {
  const points: string[] = []
  let counted = 0
  let hit = false
  let armed = false
  const isCounted = fits(plan?.among)

  /** Counts the effect and says whether it is the one. */
  function isDue(point: string): boolean {
    points.push(point)
    if (plan === undefined || !isCounted(point)) return false
    counted += 1
    return counted === plan.at || (plan.from === true && counted > plan.at)
  }

  function mark(): void {
    if (!hit) onHit(points.at(-1)!)
    hit = true
  }

  /** What every kind but a hang comes to. */
  function trigger({ kind }: FaultPlan): void {
    mark()
    if (kind === 'kill') process.kill(process.pid, 'SIGKILL')
    else if (kind === 'cancel' || kind === 'meanwhile') act()
    else if (kind !== 'git' && kind !== 'hang') throw systemError(kind, points.at(-1)!)
  }

  async function asynchronous<T>(point: string, effect: () => Promise<T>): Promise<T> {
    if (!isDue(point) || !plan) return effect()
    if (plan.kind === 'hang') return hang()
    if (plan.when === 'before') trigger(plan)
    const going = effect()
    if (plan.when === 'during') setImmediate(() => trigger(plan))
    const result = await going
    if (plan.when === 'after') trigger(plan)
    return result
  }

  /** An append is one call into SQLite: there is nothing in the middle of it, and one that hangs takes the whole process. */
  async function storing<T>(point: string, effect: () => Promise<T>): Promise<T> {
    if (!isDue(point) || !plan) return effect()
    if (plan.kind === 'hang') return hangHard()
    if (plan.when === 'before') trigger(plan)
    const result = effect()
    if (plan.when !== 'before') trigger(plan)
    return result
  }

  /** Never settles, and keeps the process from ending for want of work. */
  function hang(): Promise<never> {
    mark()
    return new Promise(() => void setInterval(() => {}, 1000))
  }

  /** A call that blocks takes the whole process with it. */
  function hangHard(): never {
    mark()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    throw new Error('unreachable')
  }

  /** An effect that is a child of ours: in the middle of it the child runs. */
  async function spawning<T>(point: string, effect: () => Promise<T>): Promise<T> {
    if (plan?.when !== 'during') return asynchronous(point, effect)
    if (!isDue(point)) return effect()
    if (plan.shimmed) dieAt(plan.shimmed.shim, plan.shimmed.n)
    armed = true
    return effect()
  }

  const exec =
    (real: GitExec): GitExec =>
    (call) =>
      spawning(`git ${call.args[0]}`, () => real(call))

  const recordChild =
    (real: (pid: number, changing?: string) => () => void) =>
    (pid: number, changing?: string): (() => void) => {
      if (!armed || !plan) return real(pid, changing)
      armed = false
      if (plan.child === 'unrecorded') trigger(plan)
      const forget = real(pid, changing)
      const { shimmed } = plan
      if (shimmed) {
        // Both die at once: that git has ended is nothing that we live to note.
        return () => {
          if (hasDied(shimmed.shim)) trigger(plan)
          forget()
        }
      }
      // A child waits until it is on record: it runs when we come back to this.
      process.nextTick(() => {
        if (plan.child === 'dies' || plan.kind === 'git') process.kill(-pid, 'SIGKILL')
        if (plan.child === 'frozen') process.kill(-pid, 'SIGSTOP')
        trigger(plan)
      })
      return forget
    }

  return {
    around: {
      files: (files) => decorated(files, 'files', effects.files, asynchronous),
      store: (store) => decorated(store, 'store', effects.store, storing),
      repos: (repos) => decorated(repos, 'repos', effects.repos, storing),
      notes: (notes) => decorated(notes, 'notes', effects.notes, storing),
      vault: (vault) =>
        decorated(
          decorated(vault, 'vault', effects.vault, asynchronous),
          'contents',
          effects.contents,
          asynchronous,
        ),
      checkouts: (checkouts) => decorated(checkouts, 'checkouts', effects.checkouts, asynchronous),
      commands: (commands) => decorated(commands, 'command', effects.commands, spawning),
      exec,
      recordChild,
    },
    points,
    get hit() {
      return hit
    },
  }
}

/** Whether an effect is among those that a plan counts. */
export function fits(among = ''): (point: string) => boolean {
  const pattern = new RegExp(among)
  return (point) => pattern.test(point)
}

type Between = (point: string, effect: () => never) => unknown

function decorated<T extends object>(
  port: T,
  name: string,
  methods: readonly (keyof T & string)[],
  between: unknown,
): T {
  const faulty = { ...port }
  for (const method of methods) {
    const real = port[method] as (...args: unknown[]) => never
    const wrapped = (...args: unknown[]) => (between as Between)(`${name}.${method}`, () => real(...args))
    faulty[method] = wrapped as T[typeof method]
  }
  return faulty
}

const messages = { eio: 'i/o error', enospc: 'no space left on device', eacces: 'permission denied' }
const numbers = { eio: -5, enospc: -28, eacces: -13 }

/** As Node throws it. */
function systemError(kind: keyof typeof messages, syscall: string): NodeJS.ErrnoException {
  const code = kind.toUpperCase()
  const error = new Error(`${code}: ${messages[kind]}, ${syscall}`)
  return Object.assign(error, { code, errno: numbers[kind], syscall })
}
