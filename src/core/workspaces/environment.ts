/** The environment variables that every command of a task gets. */
import { portsOf, slugOf, type Task } from '../model/task.ts'

export function taskEnvironment(task: Task): Record<string, string> {
  const ports = task.portBlock ? portsOf(task.portBlock) : []
  return {
    OFFSHOOT_TASK: task.id,
    OFFSHOOT_WORKSPACE: task.path,
    OFFSHOOT_SLUG: slugOf(task),
    ...Object.fromEntries(
      ports.map((port, n) => [n === 0 ? 'OFFSHOOT_PORT' : `OFFSHOOT_PORT_${n}`, `${port}`]),
    ),
  }
}
