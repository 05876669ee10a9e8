/** A task that has changed many files, for verbs that take their time. */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type TestRepo, testRepo } from './repo.ts'
import { library } from './workspace.ts'

/** The files as they were (`before`), or as the task has them (`after`). */
function fill(folder: string, count: number, content: string): void {
  for (let n = 0; n < count; n++) {
    const file = path.join(folder, `d${Math.floor(n / 100)}`, `f${n % 100}.txt`)
    if (n % 100 === 0) mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, `${content} ${n}\n`)
  }
}

/** A repository of that many files, each of which the task T1 has changed; unless `unread`, a step holds them. */
export async function changedByTask(count: number, { unread = false } = {}): Promise<TestRepo> {
  const repo = testRepo()
  fill(repo.dir, count, 'before')
  repo.git('add', '--all')
  repo.git('commit', '--quiet', '--message=Many files')
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1' })
  fill(task.path, count, 'after')
  if (!unread) await lib.checkpoint({ task: 'T1' })
  return repo
}
