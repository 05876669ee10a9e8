/** Cancels the command on a signal, unless the program that has the terminal takes Ctrl-C for itself. */
import { AppError } from '../core/model/errors.ts'

/** Listens to the process that handed the command over to us, if there is one: it passes signals on, and it may die. */
export type Listen = (onSignal: () => void, onGone: () => void) => void

export interface Cancel {
  readonly signal: AbortSignal
  /** Takes each Ctrl-C while it is set, which then cancels nothing. */
  onInterrupt: (() => void) | undefined
}

/**
 * The first signal cancels. A second one exits at once: the next command that writes finishes or rolls back the half-done
 * verb. A terminal sends Ctrl-C to the process that handed over as well, which passes it on: that is one signal, not two.
 */
export function openCancel(listen: Listen | undefined): Cancel {
  const controller = new AbortController()
  const cancel: Cancel = { signal: controller.signal, onInterrupt: undefined }
  const abort = () => controller.abort(new AppError('cancelled', 'Cancelled.'))
  const counter = () => {
    let count = 0
    return () => (++count > 1 ? process.exit(130) : abort())
  }
  const own = counter()
  process.on('SIGINT', () => (cancel.onInterrupt ?? own)())
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, own)
  const passed = counter()
  listen?.(() => (cancel.onInterrupt ?? passed)(), abort)
  return cancel
}
