/** The note of what was published: which step became which commit of the user's repository. */
import path from 'node:path'
import type { Task } from '../../core/model/task.ts'
import { taskFiles, taskFolder } from '../../core/model/layout.ts'
import type { OpenVault } from '../open.ts'

/** One line per commit, `<step> <commit> <tree>`; a join with the agent's own commits has the step `-`. */
export interface Line {
  readonly n: number | undefined
  readonly commit: string
  readonly tree: string
}

export async function readLines(vault: OpenVault, task: Task): Promise<Line[]> {
  const text = (await vault.files.readText(publishedFile(vault, task))) ?? ''
  return text
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap(([n, commit, tree]) =>
      commit && tree ? [{ n: n === '-' ? undefined : Number(n), commit, tree }] : [],
    )
}

export async function writeLines(vault: OpenVault, task: Task, lines: readonly Line[]): Promise<void> {
  const text = lines.map(({ n, commit, tree }) => `${n ?? '-'} ${commit} ${tree}\n`).join('')
  await vault.files.write(publishedFile(vault, task), text, 0o600)
}

function publishedFile({ vault }: OpenVault, task: Task): string {
  return path.join(taskFolder(vault, task), taskFiles.published)
}

/** The last step that was published. */
export function lastOf(lines: readonly Line[]): number {
  return lines.findLast(({ n }) => n !== undefined)?.n ?? 0
}

/** The commit of each published step, by its number. */
export async function readPublished(vault: OpenVault, task: Task): Promise<Map<number, string>> {
  const lines = await readLines(vault, task)
  return new Map(lines.flatMap(({ n, commit }) => (n === undefined ? [] : [[n, commit]])))
}
