/** The operations that a vault keeps (docs/adr/0015-operations-staged-then-finished.md). */
import path from 'node:path'
import type { Kept, KeptOperation } from '../../core/model/operation.ts'
import { operationRef, operationRefs } from '../../core/model/refs.ts'
import { completedFile } from '../../core/model/layout.ts'
import type { FileSystem } from '../../core/ports/files.ts'
import { commitContent, parseCommit } from '../objects/commit.ts'
import type { OpenVault } from '../open.ts'
import { readRef, readRefNames } from '../place.ts'
import { parseObject } from './known.ts'

/** Syncs all commits before it writes their refs, and places the refs together. */
export async function keep(vault: OpenVault, kept: readonly Kept[]): Promise<void> {
  const at = vault.clock.now().toISOString()
  const commits = new Map<string, string>()
  for (const one of kept) commits.set(one.name, await putOperation(vault, one, at))
  await vault.objects.sync()
  const folder = path.join(vault.vault, operationRefs)
  const drafts: { draft: string; target: string }[] = []
  for (const [name, commit] of commits) {
    const target = path.join(folder, name)
    const draft = await vault.files.writeDraft(target, Buffer.from(`${commit}\n`), 0o600)
    drafts.push({ draft, target })
  }
  await vault.files.placeDrafts(drafts)
  await vault.files.sync([folder, path.dirname(folder)])
}

/** A commit with the record as its message, and the trees that the record refers to as its tree. */
async function putOperation({ objects }: OpenVault, { record, trees }: Kept, at: string): Promise<string> {
  const entries = Object.entries(trees).map(([name, oid]) => ({ name, mode: '40000' as const, oid }))
  const tree = await objects.write(entries)
  const message = `${JSON.stringify(record)}\n`
  return objects.put('commit', commitContent({ tree, parents: [], message, at }))
}

export async function findKept(
  vault: OpenVault,
  name: string,
): Promise<{ record: unknown; trees: Record<string, string> } | undefined> {
  const commit = await readRef(vault.files, vault.vault, operationRef(name))
  if (commit === undefined) return undefined
  const { tree, message } = parseCommit(await vault.objects.readObject(commit))
  const trees = Object.fromEntries((await vault.objects.read(tree)).map((entry) => [entry.name, entry.oid]))
  return { record: JSON.parse(message), trees }
}

/** Appends one line per finished operation. A line that a power cut cut off is ignored. */
export async function noteDone(
  vault: OpenVault,
  done: readonly { readonly name: string; readonly note: object }[],
): Promise<void> {
  const file = completedFile(vault.vault)
  const lines = done.map(({ name, note }) => `\n${JSON.stringify({ ...note, id: name })}\n`)
  if (lines.length > 0) await vault.files.appendDurable(file, lines.join(''), 0o600)
}

async function readDone(
  files: FileSystem,
  vault: string,
): Promise<Map<string, { order: number; note: object }>> {
  const text = (await files.readText(completedFile(vault))) ?? ''
  const done = new Map<string, { order: number; note: object }>()
  for (const [order, line] of text.split('\n').entries()) {
    const { id, ...note } = parseObject(line) ?? {}
    // A recovery may have noted the operation a second time: the first line has the order.
    if (typeof id === 'string') done.set(id, { order: done.get(id)?.order ?? order, note })
  }
  return done
}

/** All operations that the vault has; one that cannot be read is left out. */
export async function readKept(vault: OpenVault): Promise<KeptOperation[]> {
  const done = await readDone(vault.files, vault.vault)
  const kept: KeptOperation[] = []
  for (const name of await readRefNames(vault.files, vault.vault, operationRefs)) {
    const found = await findKept(vault, name).catch(() => undefined)
    if (found) kept.push({ name, record: found.record, done: done.get(name) })
  }
  return kept
}
