/** What the rules keep out of the steps, told without what is in them all the same. */
import type { BytePath } from '../../core/model/bytes.ts'
import { findEntry, type TreeStore } from '../objects/tree.ts'
import { filesBelow } from './capture.ts'

/** A folder of which the step holds some files is told file by file. */
export async function withoutTaken(
  store: TreeStore,
  tree: string,
  workspace: string,
  ignored: readonly BytePath[],
): Promise<BytePath[]> {
  const left: BytePath[] = []
  for (const found of ignored) {
    const isFolder = found.endsWith('/')
    const entry = await findEntry(store, tree, isFolder ? found.slice(0, -1) : found)
    if (!entry) left.push(found)
    if (!isFolder || entry?.mode !== '40000') continue
    for (const file of (await filesBelow(workspace, found.slice(0, -1))).files) {
      if (!(await findEntry(store, tree, file))) left.push(file)
    }
  }
  return left
}
