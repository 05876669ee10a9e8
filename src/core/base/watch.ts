/** Watches over one call of a verb: tells how far it is, and whether it can still be cancelled. */
import { AppError } from '../model/errors.ts'
import type { Follow, OnProgress, Phase } from '../model/progress.ts'
import type { Clock } from '../ports/clock.ts'

export interface Watch {
  /** Aborts when the caller cancels, until the verb is settled. */
  readonly signal: AbortSignal | undefined
  /** Takes progress that somebody else has counted, such as git. */
  readonly onProgress: OnProgress | undefined
  /** Counts the files of a phase. */
  count(phase: Phase, total: number): () => void
  /** From here on the verb goes on to its end: who cancels it now is told that it is too late. */
  settle(verb: string): void
  /** The call has ended. */
  close(): void
}

/** Receives what a verb tells while it works. */
export interface Watcher {
  readonly onProgress?: OnProgress | undefined
  /** The verb was cancelled too late, and finishes. */
  readonly onLate?: ((verb: string) => void) | undefined
}

/** Quick verbs tell nothing; long ones tell so often that a person sees them move. */
const [silentMs, betweenMs] = [1000, 100]

export function openWatch(clock: Clock, caller: AbortSignal | undefined, watcher: Watcher): Watch {
  const cancel = new AbortController()
  let settled: string | undefined
  const onAbort = () => {
    if (settled === undefined) cancel.abort(cancelledBy(caller?.reason))
    else watcher.onLate?.(settled)
  }
  if (caller?.aborted) onAbort()
  caller?.addEventListener('abort', onAbort)
  let next = clock.now().getTime() + silentMs
  return {
    signal: caller && cancel.signal,
    onProgress: watcher.onProgress,
    count(phase, total) {
      const { onProgress } = watcher
      if (!onProgress) return () => {}
      let files = 0
      return () => {
        files++
        const now = clock.now().getTime()
        if (now < next) return
        next = now + betweenMs
        onProgress({ phase, percent: Math.floor((files / total) * 100), files, total })
      }
    },
    settle: (verb) => void (settled = verb),
    close: () => caller?.removeEventListener('abort', onAbort),
  }
}

/** A caller may abort with any reason; doors see `cancelled` for each. */
function cancelledBy(reason: unknown): AppError {
  return reason instanceof AppError ? reason : new AppError('cancelled', 'Cancelled.', { cause: reason })
}

/** Follows a phase of some work that may be watched. */
export function following(
  { signal, watch }: { readonly signal?: AbortSignal | undefined; readonly watch?: Watch | undefined },
  phase: Phase,
): Follow {
  return { signal, count: watch && ((total) => watch.count(phase, total)) }
}
