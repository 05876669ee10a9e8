/** The tasks of the screen of `watch`, in groups: those that need the user come first. */
import type { Output } from '../../protocol/schemas/index.ts'
import { type Why, whyOf } from '../commands/waiting.ts'

export type Task = Output<'task.list'>['tasks'][number]

interface Kind {
  readonly title: string
  /** How the header counts its tasks, one and several: `1 needs you`, `2 need you`. */
  readonly nouns: readonly [one: string, several: string]
  /** What its tasks want, most urgent first. */
  readonly whys: readonly (Why | undefined)[]
}

const kinds: readonly Kind[] = [
  { title: 'Needs you', nouns: ['needs you', 'need you'], whys: ['asks', 'wanted', 'failed'] },
  { title: 'Running', nouns: ['running', 'running'], whys: ['running'] },
  { title: 'Ready to review', nouns: ['to review', 'to review'], whys: ['review', 'empty'] },
  { title: 'Others', nouns: ['other', 'others'], whys: [undefined] },
]

export interface Group extends Pick<Kind, 'title' | 'nouns'> {
  readonly tasks: readonly Task[]
}

/** The groups that have tasks; within one, the most urgent first, and else as they were listed. */
export function groupsOf(tasks: readonly Task[]): Group[] {
  return kinds.flatMap(({ whys, ...kind }) => {
    const found = whys.flatMap((why) => tasks.filter((task) => whyOf(task) === why))
    return found.length === 0 ? [] : [{ ...kind, tasks: found }]
  })
}

/** The tasks as the screen shows them, from top to bottom. */
export function inOrder(tasks: readonly Task[]): Task[] {
  return groupsOf(tasks).flatMap((group) => group.tasks)
}

/** Two open tasks have different workspaces, also those of two repositories with the same id. */
export function keyOf({ path }: Task): string {
  return path
}
