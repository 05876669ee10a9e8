/** The contents of files that the vault holds. */
import type { Leaf } from '../../core/model/tree.ts'
import type { OpenVault } from '../open.ts'

/** The content of a file; undefined when it is longer than `limit`. */
export async function findContent(
  { objects, reader }: OpenVault,
  leaf: Pick<Leaf, 'oid'>,
  limit: number,
): Promise<Buffer | undefined> {
  const small = objects.findSmall(leaf.oid)
  if (small) return small.length <= limit ? small : undefined
  const size = (await reader.readSize(leaf.oid)) ?? 0
  return size <= limit ? objects.readObject(leaf.oid) : undefined
}

/** Hands the content of a file over piece by piece. */
export async function readPieces(
  { exec, vault, alternates }: OpenVault,
  { oid }: Pick<Leaf, 'oid'>,
  onPiece: (piece: Buffer) => void,
): Promise<void> {
  const args = ['cat-file', 'blob', oid]
  // 128: it is a tree, which has no content to hand over.
  await exec({ args, gitDir: vault, alternates, cwd: vault, onStdout: onPiece, expect: [128] })
}
