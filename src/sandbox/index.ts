/**
 * Every kind of sandbox (docs/adr/0028-one-cell-one-spawn.md). A new kind is one file with a `Sandbox`, its name in
 * `sandboxKinds` (src/core/model/enums.ts), and one line here; test/contracts/sandbox.test.ts then runs the suite that all
 * of them share.
 */
import { AppError } from '../core/model/errors.ts'
import type { Sandboxes } from '../core/ports/sandbox.ts'
import { none } from './none.ts'
import type { Machine, Sandbox } from './sandbox.ts'

export const sandboxes: readonly Sandbox[] = [none]

/** The port, carried out by the kinds in the list. */
export function sandboxesOn(machine: Machine): Sandboxes {
  return {
    async open(kind, task) {
      const found = sandboxes.find((sandbox) => sandbox.kind === kind)
      if (!found) throw new AppError('failed', `There is no sandbox ${kind}.`)
      return found.open(machine, task)
    },
  }
}
