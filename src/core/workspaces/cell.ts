/** The cell in which the commands of a task run: those of its agent, and the hooks of its user. */
import type { Cell, CellTask } from '../ports/sandbox.ts'
import type { Ports } from '../ports/index.ts'

/** The one place that says which kind of sandbox a task has. */
export function openCell({ sandboxes }: Pick<Ports, 'sandboxes'>, task: CellTask): Promise<Cell> {
  return sandboxes.open('none', task)
}
