/** Reads settings files. */
import { lstat, readFile, realpath, stat } from 'node:fs/promises'
import type { Document } from 'yaml'
import { isTree } from './keys.ts'
import { badFile, type Layer } from './layer.ts'
import { isBelow } from '../core/base/below.ts'
import { settingsFile } from '../core/model/layout.ts'

const maxBytes = 1024 * 1024

/** The repository's own file. Others wrote it, so it must not make us read a file elsewhere: no link may lead out. */
export async function readRepoFile(checkout: string): Promise<Layer | undefined> {
  const path = settingsFile(checkout)
  return readLayer(path, async () => {
    if (!isBelow(await realpath(path), await realpath(checkout))) {
      throw badFile(path, 'is a link that leads out of the repository')
    }
  })
}

/** The user's file, which may well be a link into their dotfiles. */
export const readUserFile = (path: string): Promise<Layer | undefined> => readLayer(path)

async function readLayer(path: string, guard?: () => Promise<void>): Promise<Layer | undefined> {
  const bytes = await readBytes(path, guard).catch((error: NodeJS.ErrnoException) => {
    throw error.code?.startsWith('E')
      ? badFile(path, `cannot be read: ${error.message}`, undefined, error)
      : error
  })
  return bytes && parse(path, decode(path, bytes))
}

async function readBytes(path: string, guard?: () => Promise<void>): Promise<Uint8Array | undefined> {
  // lstat, because a link to a missing file is a mistake to report, and not an absent file.
  const there = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  if (!there) return undefined
  await guard?.()
  const target = await stat(path)
  // Reading a pipe would block for ever, and a device may never end.
  if (!target.isFile())
    throw badFile(path, `must be a file; found ${target.isDirectory() ? 'a folder' : 'a device'}`)
  if (target.size > maxBytes) throw badFile(path, `must be smaller than 1 MiB; found ${target.size} bytes`)
  return readFile(path)
}

function decode(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw badFile(path, 'must be UTF-8 text', undefined, error)
  }
}

async function parse(path: string, text: string): Promise<Layer> {
  const { LineCounter, isMap, isScalar, parseDocument } = await import('yaml')
  const lines = new LineCounter()
  const position = (offset: number) => {
    const { line, col: column } = lines.linePos(offset)
    return { line, column }
  }
  let document: Document.Parsed
  let tree: unknown
  try {
    document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' })
    const fault = document.errors[0] ?? document.warnings[0]
    if (fault) throw badFile(path, `is not valid YAML: ${fault.message}`, position(fault.pos[0]), fault)
    tree = document.toJS({ maxAliasCount: 100 }) ?? {}
  } catch (error) {
    // RangeError: nesting deeper than the stack. ReferenceError: aliases that multiply.
    throw error instanceof RangeError || error instanceof ReferenceError
      ? badFile(path, `is not usable YAML: ${error.message}`, undefined, error)
      : error
  }
  if (!isTree(tree)) {
    throw badFile(
      path,
      `must be a mapping of settings; found ${Array.isArray(tree) ? 'a list' : 'a single value'}`,
    )
  }
  return {
    origin: path,
    tree,
    path,
    locate: (key) => {
      let node: unknown = document.contents
      let rest = key
      let offset: number | undefined
      while (isMap(node)) {
        const pair = node.items.find(
          (item) => rest === String(item.key) || rest.startsWith(`${String(item.key)}.`),
        )
        if (!isScalar(pair?.key)) break
        offset = pair.key.range?.[0]
        rest = rest.slice(String(pair.key).length + 1)
        node = pair.value
      }
      return offset === undefined ? undefined : position(offset)
    },
  }
}
