/**
 * The overlay: content and stat of each file that differs from step 0, as of its last capture. It only saves work:
 * without it, or if it is stale, every such file is read again. Each step appends one line.
 */
import { type BigIntStats, lstatSync } from 'node:fs'
import { appendFile, readFile } from 'node:fs/promises'
import type { BytePath } from '../../core/model/bytes.ts'
import { lookOf } from '../../core/model/look.ts'
import type { Leaf, Mode } from '../objects/tree.ts'
import { lookOnly } from '../../git/look.ts'

export interface Seen {
  /** null: the file is known to be deleted. */
  readonly leaf: Leaf | null
  /** The stat of the file as text; undefined when the file must be read again in any case. */
  readonly look: string | undefined
}

export interface Overlay {
  /** The commit of the step that the overlay describes. */
  readonly tip: string
  readonly seen: Map<BytePath, Seen>
  /** Whether the overlay's file holds the same entries. */
  readonly isNoted: boolean
}

type Line = [tip: string, entries: [path: BytePath, mode: Mode | null, oid: string, look: string | null][]]

/** The overlay of exactly that step, otherwise undefined. */
export async function readOverlay(file: string, tip: string): Promise<Overlay | undefined> {
  const text = await readFile(file, { encoding: 'latin1', flag: lookOnly }).catch(() => '')
  const seen = new Map<BytePath, Seen>()
  let last = ''
  try {
    for (const line of text.split('\n')) {
      if (line === '') continue
      const [at, entries] = JSON.parse(line) as Line
      last = at
      for (const [path, mode, oid, look] of entries) {
        seen.set(path, { leaf: mode === null ? null : { mode, oid }, look: look ?? undefined })
      }
    }
  } catch {
    // A crash cut a line off: the rest cannot be trusted.
    return undefined
  }
  return last === tip ? { tip, seen, isNoted: true } : undefined
}

export function overlayLine(tip: string, news: ReadonlyMap<BytePath, Seen>): string {
  const entries = Array.from(news, ([path, { leaf, look }]): Line[1][number] => [
    path,
    leaf?.mode ?? null,
    leaf?.oid ?? '',
    look ?? null,
  ])
  // The line is pure ASCII, so that no encoding can change a path.
  const ascii = JSON.stringify([tip, entries] satisfies Line).replace(
    /[\u0080-\u00ff]/g,
    (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`,
  )
  return `${ascii}\n`
}

export async function appendOverlay(file: string, line: string): Promise<void> {
  await appendFile(file, line, { mode: 0o600 })
}

/** Two writes within this time can leave the same stat. */
const racyNs = 1_000_000_000n

/** The stat of a file; undefined when it is missing, or may not be looked at. */
export function findStat(full: string | Buffer): BigIntStats | undefined {
  try {
    return lstatSync(full, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** The look of a file; undefined when the last write is too recent to be sure. */
export function settledLook(stat: BigIntStats, nowNs: bigint): string | undefined {
  if (stat.mtimeNs + racyNs > nowNs || stat.ctimeNs + racyNs > nowNs) return undefined
  return lookOf(stat)
}
