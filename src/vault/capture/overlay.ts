/**
 * What the files that differ from step 0 looked like when they were last captured: path → content and stat. It only
 * saves work: with a lost or stale one every such file is read again. One line is appended per step.
 */
import { type BigIntStats, lstatSync } from 'node:fs'
import { appendFile, readFile } from 'node:fs/promises'
import type { BytePath } from '../../core/model/bytes.ts'
import type { Leaf, Mode } from '../objects/tree.ts'

export interface Seen {
  /** null: known to be gone. */
  readonly leaf: Leaf | null
  /** How the file looked; undefined when its content must be read again whatever it looks like. */
  readonly look: string | undefined
}

export interface Overlay {
  /** The commit of the step that it describes. */
  readonly tip: string
  readonly seen: Map<BytePath, Seen>
  /** Whether the file says the same. */
  readonly isNoted: boolean
}

type Line = [tip: string, entries: [path: BytePath, mode: Mode | null, oid: string, look: string | null][]]

/** undefined unless it describes exactly that step. */
export async function readOverlay(file: string, tip: string): Promise<Overlay | undefined> {
  const text = await readFile(file, 'latin1').catch(() => '')
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
    // A line cut off by a crash: the rest cannot be trusted.
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
  // Read and written as text that is ASCII, so that no encoding can change a path.
  const ascii = JSON.stringify([tip, entries] satisfies Line).replace(
    /[\u0080-\u00ff]/g,
    (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`,
  )
  return `${ascii}\n`
}

export async function appendOverlay(file: string, line: string): Promise<void> {
  await appendFile(file, line, { mode: 0o600 })
}

/** Two writes within this time can leave the same stat behind. */
const racyNs = 1_000_000_000n

/** Undefined also when it cannot be looked at. */
export function findStat(full: Buffer): BigIntStats | undefined {
  try {
    return lstatSync(full, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** What of a file's stat tells that its content is the same; undefined when it was written too recently to tell. */
export function lookOf(stat: BigIntStats, nowNs: bigint): string | undefined {
  if (stat.mtimeNs + racyNs > nowNs || stat.ctimeNs + racyNs > nowNs) return undefined
  return [stat.mode, stat.size, stat.mtimeNs, stat.ctimeNs, stat.ino].join(',')
}
