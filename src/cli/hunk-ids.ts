/** Reads the list of hunks that `accept --hunks FILE` names. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { quoted } from '../core/base/shell-quote.ts'
import { AppError } from '../core/model/errors.ts'
import { type Context, text } from './command.ts'

export async function hunkIds({ dir, values, positionals }: Context): Promise<string[] | undefined> {
  const file = text(values, 'hunks')
  if (file === undefined) return undefined
  const [task] = positionals
  const listing = `offshoot diff${task === undefined ? '' : ` ${quoted(task)}`} --hunks`
  const content =
    file === '-' ? await readAll(process.stdin) : await readList(path.resolve(dir, file), listing)
  const ids = listedIds(content)
  if (ids) return ids
  throw new AppError(
    'wrongUsage',
    `--hunks takes a list of hunk ids, and ${file === '-' ? 'stdin' : file} is none.`,
    {
      hint: `Write one id per line, as ${listing} lists them, or a list of ids as JSON.`,
    },
  )
}

async function readList(file: string, listing: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new AppError('notFound', `--hunks: the file ${file} cannot be read.`, {
      path: file,
      hint: `Such a list is written by: ${listing} > ${quoted(file)}`,
      cause,
    })
  })
}

/** Reads lines that begin with an id, or JSON: a list of ids, a list of hunks with an `id`, or an object with such a list as `hunks`. */
export function listedIds(content: string): string[] | undefined {
  const trimmed = content.trim()
  if (!/^[[{]/.test(trimmed)) {
    const words = trimmed.split('\n').map((line) => line.trim().split(/\s+/)[0] ?? '')
    const ids = words.filter((word) => word !== '' && !word.startsWith('#'))
    return ids.every((id) => /^[0-9a-f]+$/.test(id)) ? ids : undefined
  }
  try {
    return idsIn(JSON.parse(trimmed))
  } catch {
    return undefined
  }
}

function idsIn(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) {
    const held = typeof value === 'object' && value !== null && 'hunks' in value ? value.hunks : undefined
    return Array.isArray(held) ? idsIn(held) : undefined
  }
  const ids = value.map((item: unknown) =>
    typeof item === 'object' && item !== null && 'id' in item ? item.id : item,
  )
  return ids.every((id) => typeof id === 'string') ? ids : undefined
}
