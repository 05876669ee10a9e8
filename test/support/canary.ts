/** Commands that leave a trace when anybody runs them: how a test sees whose code was run. */
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

export interface Canary {
  /** Called with a name and, as a filter, with `filter` after it: then it passes its input on. */
  readonly command: string
  /** Who was called since the last `hush`. */
  sung(): string[]
  hush(): void
}

export function makeCanary(folder: string): Canary {
  const traces = path.join(folder, 'sung')
  const command = path.join(folder, 'canary')
  mkdirSync(traces, { recursive: true })
  // The trace is made first: whatever becomes of the call, that it was made is known.
  writeFileSync(
    command,
    `#!/bin/sh\n: > '${traces}/'"$(basename -- "\${1:-called}")"\ntest "$2" = filter && exec cat\nexit 0\n`,
  )
  chmodSync(command, 0o755)
  return {
    command,
    sung: () => readdirSync(traces).toSorted(),
    hush() {
      rmSync(traces, { recursive: true })
      mkdirSync(traces)
    },
  }
}
