/** Cancels the command on a signal, unless the program that has the terminal takes Ctrl-C for itself. It imports nothing, as by-daemon.ts. */

/** Listens to the process that handed the command over to us, if there is one: it passes signals on, and it may die. */
export type Listen = (onSignal: () => void, onGone: () => void) => void

export interface Interrupt {
  /** Takes each Ctrl-C while it is set, which then cancels nothing. */
  onInterrupt: (() => void) | undefined
}

export interface Cancel extends Interrupt {
  readonly signal: AbortSignal
}

/**
 * The first signal calls `abort`. A second one exits at once: the next command that writes finishes or rolls back the half-done
 * verb. A terminal sends Ctrl-C to the process that handed over as well, which passes it on: that is one signal, not two.
 */
export function onSignals(listen: Listen | undefined, abort: () => void): Interrupt {
  const interrupt: Interrupt = { onInterrupt: undefined }
  const counter = () => {
    let count = 0
    return () => (++count > 1 ? process.exit(130) : abort())
  }
  const own = counter()
  process.on('SIGINT', () => (interrupt.onInterrupt ?? own)())
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, own)
  const passed = counter()
  listen?.(() => (interrupt.onInterrupt ?? passed)(), abort)
  return interrupt
}
