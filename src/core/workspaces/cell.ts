/** Opens the cell in which the agent and the hooks of a task run (docs/adr/0028-one-cell-one-spawn.md). */
import type { Cell, CellTask } from '../ports/sandbox.ts'
import type { Ports } from '../ports/index.ts'

/** The one place that chooses the kind of sandbox. */
export function openCell({ sandboxes }: Pick<Ports, 'sandboxes'>, task: CellTask): Promise<Cell> {
  return sandboxes.open('none', task)
}
