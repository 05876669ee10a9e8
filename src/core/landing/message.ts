/** What commits and pull requests say of a task. Pure. */
import type { Step } from '../model/step.ts'
import type { Task } from '../model/task.ts'

/** One line for each step that the present rests on: neither what a rewind took back nor what we did ourselves. */
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

/** Fills a template in; what nothing is left of is the title. */
export function filled(template: string, task: Task, steps: readonly Step[]): string {
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
