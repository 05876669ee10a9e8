/** Paths of a workspace that are never part of a step: files that offshoot copied or linked from the checkout. */
import path from 'node:path'
import { type BytePath, splitNul, toBytes } from '../../core/model/bytes.ts'
import type { FileSystem } from '../../core/ports/files.ts'

const listOf = (folder: string) => path.join(folder, 'kept-out')

export async function keepOut(files: FileSystem, folder: string, paths: readonly BytePath[]): Promise<void> {
  const all = new Set([...(await readKeptOut(files, folder)), ...paths])
  const text = Array.from(all, (file) => `${file}\0`).join('')
  await files.writeDurable(listOf(folder), toBytes(text), 0o600)
  await files.sync([folder])
}

export async function readKeptOut(files: FileSystem, folder: string): Promise<ReadonlySet<BytePath>> {
  const text = await files.readText(listOf(folder))
  return new Set(text === undefined ? [] : splitNul(Buffer.from(text)))
}
