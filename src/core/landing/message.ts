/** The messages of commits and pull requests for a task. Pure. */
import type { Step } from '../model/step.ts'
import type { Task } from '../model/task.ts'

/** One line per step, without the steps that a rewind took back, and without rewinds and updates themselves. */
export function stepLines(steps: readonly Step[]): string[] {
  const told: string[] = []
  for (let n = steps.length - 1; n > 0; ) {
    const step = steps[n]
    if (!step) break
    const isOurs = step.rewindTo !== undefined || step.basis !== undefined
    if (!isOurs) told.push(`- ${oneLine(step.summary === '' ? step.tool : step.summary)}`)
    n = step.rewindTo ?? n - 1
  }
  return told.reverse()
}

/** Fills in a template such as `{title}`; if nothing is left, the message is the title. */
export function fillMessage(template: string, task: Task, steps: readonly Step[]): string {
  const words: Record<string, string> = {
    task: task.id,
    title: titleOf(task),
    steps: stepLines(steps).join('\n'),
  }
  const text = template.replace(/\{(\w+)\}/g, (found, name: string) => words[name] ?? found)
  return text.trim() || titleOf(task)
}

export function titleOf({ title, id }: Task): string {
  return oneLine(title) || `Land ${id}`
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
