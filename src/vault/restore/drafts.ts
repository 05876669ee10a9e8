/** Index files of a user's checkout, stored as blobs in the vault, and new index files made from them. */
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { BytePath } from '../../core/model/bytes.ts'
import type { Leaf } from '../../core/model/tree.ts'
import { scratchIn } from '../../core/model/layout.ts'
import type { Indexes } from '../../core/ports/indexes.ts'
import { indexLines } from '../../git/index-lines.ts'
import { type Git, requireDone, showHidden } from '../capture/hidden.ts'
import { scan } from '../capture/scan.ts'
import type { OpenVault } from '../open.ts'
import { writeBlob } from './write-blob.ts'

/** Runs git calls on a copy of that index. */
async function withCopy<T>(
  vault: OpenVault,
  index: Leaf,
  work: (copy: string, git: (args: string[], stdin?: Buffer) => Promise<Git>) => Promise<T>,
): Promise<T> {
  const copy = scratchIn(vault.vault, `index-${process.pid}-${randomUUID()}`)
  await writeBlob(vault, Buffer.from(copy), index)
  const scratch = path.dirname(copy)
  const scope = { gitDir: vault.vault, workTree: scratch, indexFile: copy, cwd: scratch }
  try {
    return await work(copy, (args, stdin) =>
      vault.exec({ args, ...scope, alternates: vault.alternates, ...(stdin && { stdin }), expect: [1, 128] }),
    )
  } finally {
    await vault.files.remove(copy)
  }
}

export function scanAgainst(
  vault: OpenVault,
  checkout: string,
  index: Leaf,
  signal?: AbortSignal,
): Promise<BytePath[]> {
  return withCopy(vault, index, async (copy) => {
    const found = await scan(vault.exec, { ...vault, workspace: checkout, index: copy }, signal)
    return [...found].filter((file) => !file.endsWith('/'))
  })
}

export function findIndexTree(vault: OpenVault, index: Leaf): Promise<string | undefined> {
  return withCopy(vault, index, async (_, git) => {
    const { code, stdout } = await git(['write-tree', '--missing-ok'])
    return code === 0 ? stdout.toString().trim() : undefined
  })
}

/** Writes the tree into the user's own repository, durably. */
export function storeIndexTree(vault: OpenVault, index: Leaf, gitDir: string): Promise<string> {
  return withCopy(vault, index, async (copy, git) => {
    // Git leaves intent-to-add entries out of a tree. Writing each entry again drops that flag.
    const { stdout: entries } = await git(['ls-files', '--stage', '-z'])
    requireDone(await git(['update-index', '-z', '--index-info'], entries))
    const args = ['write-tree', '--missing-ok']
    const cwd = path.dirname(copy)
    const { stdout } = await vault.exec({ args, gitDir, indexFile: copy, cwd, durable: true })
    return stdout.toString().trim()
  })
}

export function draftIndex(
  vault: OpenVault,
  index: Leaf,
  change: Parameters<Indexes['draftIndex']>[2],
): Promise<Leaf> {
  return withCopy(vault, index, async (copy, git) => {
    if ('moves' in change) {
      requireDone(await git(['update-index', '-z', '--index-info'], indexLines(change.moves)))
    } else {
      requireDone(await git(['read-tree', '--reset', '-i', change.commit]))
      await showHidden(({ args, stdin }) => git([...args], stdin))
    }
    return { mode: '100644', oid: await vault.objects.put('blob', await readFile(copy)) }
  })
}
