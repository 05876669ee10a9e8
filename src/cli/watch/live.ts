/** Runs the screen of `watch`: follows the log, draws the tasks anew after each change, and does what keys ask for. */
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { AppError } from '../../core/model/errors.ts'
import type { Context } from '../command.ts'
import { busyWords, type Hands, type Outcome, perform } from './deeds.ts'
import type { Task } from './groups.ts'
import { pageOf, screenOf } from './render.ts'
import { openScreen, type Screen } from './screen.ts'
import { type Deed, pressed, settleMs, type WatchState, withTasks } from './state.ts'

/** What the screen shows, and where it finds it. */
export interface Watched {
  /** A folder of the repository; undefined for all of them. */
  readonly dir: string | undefined
  /** The tasks of now, and the entry of the log that they are as of; without a repository there is none. */
  read(): Promise<{ readonly tasks: readonly Task[]; readonly seq?: number | undefined }>
}

/** Ages go on, and a run that was killed tells nobody. */
const tickMs = 1000

/** Resolves when the user leaves, or a signal ends the command. */
export async function live(context: Context, { dir, read }: Watched): Promise<void> {
  const { tasks, seq } = await read()
  const repo = dir && path.basename(dir)
  let state: WatchState = withTasks({ repo, tasks: [], done: [] }, tasks)
  const left = Promise.withResolvers<void>()
  const over = new AbortController()
  const screen = openScreen({ onKeys, onResize: draw })
  let work: Promise<void> = Promise.resolve()
  let doing = new AbortController()

  function draw(): void {
    const { paint } = context
    screen.draw(screenOf(state, { ...screen.size, now: new Date(), paint }))
  }

  function become(next: WatchState): void {
    const isNew = next.panel?.asks !== undefined && next.panel.asks !== state.panel?.asks
    state = next
    draw()
    if (isNew) setTimeout(draw, settleMs)
  }

  // The screen paints by itself.
  const tell = (line: string) => become({ ...state, notice: [stripVTControlCharacters(line)] })

  const refresh = oneAtATime(async () => {
    const { tasks: found } = await read()
    become(withTasks(state, found))
  }, left.reject)

  async function follow(): Promise<void> {
    for await (const _ of context.follow({ dir, since: seq, signal: over.signal })) refresh.ask()
  }

  function onKeys(keys: readonly string[]): void {
    for (const key of keys) {
      const { state: next, deed } = pressed(state, key, { at: Date.now(), page: pageOf(screen.size) })
      become(next)
      if (deed) act(deed)
    }
  }

  function act(deed: Deed): void {
    if (deed.do === 'leave') return left.resolve()
    if (deed.do === 'cancel') return cancel()
    doing = new AbortController()
    become({ ...state, busy: busyWords(deed) })
    const cancellable = { ...context, call: callWith(context, doing.signal) }
    work = perform(deed, handsOf(cancellable, screen, dir, tell))
      .then(finish)
      .catch(left.reject)
  }

  /** Cancels what is being done. What goes on all the same is left to the command, as a second Ctrl-C leaves any other. */
  function cancel(): void {
    // Raw mode keeps Ctrl-C from being a signal.
    if (doing.signal.aborted) process.kill(process.pid, 'SIGINT')
    else doing.abort(new AppError('cancelled', 'Cancelled.'))
  }

  function finish({ notice, panel, done, undone }: Outcome): void {
    const { busy: _, ...rest } = state
    const kept = rest.done.filter(({ operation }) => operation !== undone)
    become({ ...rest, notice: notice ?? rest.notice, panel, done: done ? [...kept, done] : kept })
    refresh.ask()
    if (state.isLeaving) left.resolve()
  }

  const tick = () => (state.tasks.some(({ running }) => running) ? refresh.ask() : draw())
  const timer = setInterval(tick, tickMs)
  context.signal.addEventListener('abort', () => left.resolve())
  if (context.signal.aborted) left.resolve()
  try {
    context.useTerminal({ tell })
    draw()
    const followed = follow().catch(left.reject)
    await left.promise
    over.abort()
    await followed
    await refresh.settled()
  } finally {
    clearInterval(timer)
    over.abort()
    // A verb that is past its point of no return ends before the command does, whatever ended the screen.
    await work
    screen.leave()
    context.useTerminal()
  }
}

interface Repeated {
  /** Has the work done; once more at its end if it is being done now. */
  ask(): void
  /** Resolves when nothing is being done. */
  settled(): Promise<void>
}

function oneAtATime(work: () => Promise<void>, onError: (error: unknown) => void): Repeated {
  let current: Promise<void> | undefined
  let isAskedFor = false
  const goOn = async () => {
    while (isAskedFor) {
      isAskedFor = false
      await work()
    }
  }
  return {
    ask() {
      isAskedFor = true
      current ??= goOn()
        .catch(onError)
        .finally(() => (current = undefined))
    },
    settled: async () => current,
  }
}

/** Calls that the signal cancels as well. */
function callWith(context: Context, signal: AbortSignal): Context['call'] {
  return (action, input, emit, also) =>
    context.call(action, input, emit, also ? AbortSignal.any([signal, also]) : signal)
}

function handsOf(
  context: Context,
  screen: Screen,
  dir: string | undefined,
  tell: (line: string) => void,
): Hands {
  return {
    context,
    dirOf: (task) => dir ?? task.origin,
    anyKey: (signal) => screen.anyKey('Press a key to go back. ', signal),
    async apart(work) {
      const interrupted = new AbortController()
      screen.leave()
      context.useTerminal({ onInterrupt: () => interrupted.abort() })
      try {
        return await work(AbortSignal.any([interrupted.signal, context.signal]))
      } finally {
        context.useTerminal({ tell })
        screen.enter()
      }
    },
  }
}
