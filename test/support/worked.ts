/** A repository with a task in which an agent has worked, for the journeys that land it. */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { testRepo } from './repo.ts'
import { library } from './workspace.ts'

/** `count` lines, some of them changed. */
export function lines(changes: Readonly<Record<number, string>> = {}, count = 20): string {
  return Array.from({ length: count }, (_, n) => `${changes[n + 1] ?? `line ${n + 1}`}\n`).join('')
}

/** The task T1 in a repository of Ursula's; `work` is one step each, written into the workspace. */
export async function worked(
  files: Record<string, string>,
  work: readonly Readonly<Record<string, string | Uint8Array>>[] = [],
) {
  const user = testRepo(files)
  user.git('config', '--global', 'user.name', 'Ursula')
  user.git('config', '--global', 'user.email', 'ursula@example.com')
  const repo = library(user)
  const { task } = await repo.start({ task: 'T1', title: 'Do the work' })
  const at = (name: string) => path.join(task.path, name)
  for (const step of work) {
    for (const [name, content] of Object.entries(step)) writeFileSync(at(name), content)
    await repo.checkpoint({ task: 'T1', tool: 'Edit', summary: Object.keys(step).join(', ') })
  }
  const read = (name: string) => readFileSync(path.join(user.dir, name), 'utf8')
  return { user, repo, task, at, read }
}
