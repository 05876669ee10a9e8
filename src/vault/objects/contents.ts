/** The contents of files that the vault holds. */
import type { Leaf } from '../../core/model/tree.ts'
import type { OpenVault } from '../open.ts'

/** The content of a file; undefined when it is longer than `limit`. */
export async function findContent(
  { objects, reader }: OpenVault,
  leaf: Leaf,
  limit: number,
): Promise<Buffer | undefined> {
  const small = objects.findSmall(leaf.oid)
  if (small) return small.length <= limit ? small : undefined
  const size = (await reader.readSize(leaf.oid)) ?? 0
  return size <= limit ? objects.readObject(leaf.oid) : undefined
}
