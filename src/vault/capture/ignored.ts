/** The ignored paths of a workspace that the steps do not hold either. */
import type { BytePath } from '../../core/model/bytes.ts'
import { findEntry, type TreeStore } from '../objects/tree.ts'
import { filesBelow } from './capture.ts'

/** If a step holds some files of an ignored folder, the other files are listed one by one instead of the folder. */
export async function withoutCaptured(
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
