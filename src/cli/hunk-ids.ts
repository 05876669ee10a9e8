/** Reads the list of hunks that `accept --hunks FILE` names. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { AppError } from '../core/model/errors.ts'
import { type Context, text } from './command.ts'

export async function hunkIds({ dir, values }: Context): Promise<string[] | undefined> {
  const file = text(values, 'hunks')
  if (file === undefined) return undefined
  const content = file === '-' ? await readAll(process.stdin) : await readList(path.resolve(dir, file))
  const ids = listedIds(content)
  if (ids) return ids
  throw new AppError(
    'wrongUsage',
    `--hunks takes a list of hunk ids, and ${file === '-' ? 'stdin' : file} is none.`,
    {
      hint: 'Write one id per line, or JSON: ["id", …], as offshoot diff TASK --hunks or --json prints them.',
    },
  )
}

async function readList(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new AppError('notFound', `--hunks: the file ${file} cannot be read.`, {
      path: file,
      hint: 'offshoot diff TASK --hunks > FILE writes such a list.',
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
