/** The tree of a commit with the bytes that a workspace would hold (docs/adr/0010-conversions-as-of-the-start.md). */
import type { Work } from '../tasks/work.ts'
import type { BytePath } from '../model/bytes.ts'
import type { Leaf } from '../model/tree.ts'

/** `base` is the raw tree of the task's base commit; only the files that `commit` changed are converted. */
export async function rawTree({ ports, repo, task }: Work, base: string, commit: string): Promise<string> {
  const { contents, publishing } = ports
  const [start, now] = [
    await publishing.readTree(repo, task.base.commit),
    await publishing.readTree(repo, commit),
  ]
  const changes = new Map<BytePath, Leaf | null>()
  for (const [file, { to }] of await contents.compare(repo, start, now)) {
    changes.set(file, to && (await publishing.smudge(repo, task, task.path, file, to)))
  }
  return contents.change(repo, base, changes)
}
