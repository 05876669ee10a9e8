/** Hunks, the parts of a change as `git diff` cuts them: their ids, and a file with only some of them applied. Pure. */
import { createHash } from 'node:crypto'
import { type BytePath, toText } from '../model/bytes.ts'
import { AppError } from '../model/errors.ts'
import type { Leaf, LeafChange } from '../model/tree.ts'

/** A range of old lines that new lines replace. As in git, an empty range starts at the line before it. */
export interface Lines {
  readonly oldStart: number
  readonly oldLines: number
  readonly newStart: number
  readonly newLines: number
}

/** One `@@ -1,3 +1,4 @@` of a patch, parsed. */
export interface Cut extends Lines {
  readonly header: string
  readonly insertions: number
  readonly deletions: number
  /** The lines of the patch below the header, one character per byte. */
  readonly body: string
}

export interface Hunk extends Lines {
  readonly id: string
  readonly path: string
  readonly header: string
  readonly insertions: number
  readonly deletions: number
}

/** A hunk of lines, of the file's mode, or of the whole file (a new, deleted or binary one). */
interface Part {
  readonly of: 'lines' | 'mode' | 'whole'
  readonly hunk: Hunk
}

/** A changed file and its hunks. */
export interface CutFile {
  readonly path: BytePath
  readonly change: LeafChange
  readonly parts: readonly Part[]
}

/**
 * The cuts of a patch, by the object ids of its `index <old>..<new>` lines: file names in a patch are quoted, ids are not.
 * A line of content always begins with a space, `+`, `-` or a backslash, so it is never taken for a header.
 */
export function parseCuts(patch: string): Map<string, Cut[]> {
  const files = new Map<string, Cut[]>()
  let cuts: Cut[] = []
  let open: { header: string; lines: string[] } | undefined
  const close = () => {
    if (open) cuts.push(parseCut(open.header, open.lines))
    open = undefined
  }
  for (const line of patch.split('\n')) {
    const pair = /^index ([0-9a-f]+\.\.[0-9a-f]+)/.exec(line)?.[1]
    if (line.startsWith('@@ ')) {
      close()
      open = { header: line, lines: [] }
    } else if (open && /^[ +\\-]/.test(line)) {
      open.lines.push(line)
    } else {
      close()
      if (pair !== undefined) files.set(pair, (cuts = []))
    }
  }
  close()
  return files
}

function parseCut(header: string, lines: readonly string[]): Cut {
  const [, oldStart, oldLines = '1', newStart, newLines = '1'] =
    /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(header) ?? []
  const count = (mark: string) => lines.filter((line) => line.startsWith(mark)).length
  return {
    header: toText(header),
    oldStart: Number(oldStart),
    oldLines: Number(oldLines),
    newStart: Number(newStart),
    newLines: Number(newLines),
    insertions: count('+'),
    deletions: count('-'),
    body: lines.join('\n'),
  }
}

/** Every file with its hunks. A new, deleted or binary file, a link and a submodule are one hunk each. */
export function cutFiles(
  changes: ReadonlyMap<BytePath, LeafChange>,
  cuts: ReadonlyMap<string, readonly Cut[]>,
): CutFile[] {
  return [...changes]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, change]) => ({ path, change, parts: partsOf(path, change, cuts) }))
}

const nowhere = { oldStart: 0, oldLines: 0, newStart: 0, newLines: 0, insertions: 0, deletions: 0 }

function partsOf(
  path: BytePath,
  { from, to }: LeafChange,
  cuts: ReadonlyMap<string, readonly Cut[]>,
): Part[] {
  const none = '0'.repeat((from ?? to)?.oid.length ?? 0)
  const found = cuts.get(`${from?.oid ?? none}..${to?.oid ?? none}`) ?? []
  const name = toText(path)
  const state = (leaf: Leaf | null) => (leaf ? `${leaf.mode} ${leaf.oid}` : 'none')
  if (!from || !to || !isPlain(from) || !isPlain(to) || (found.length === 0 && from.oid !== to.oid)) {
    const header = !from ? 'added' : to ? 'changed as a whole' : 'deleted'
    const numbers = (!from || !to) && found[0] ? numbersOf(found[0]) : { header, ...nowhere }
    return [{ of: 'whole', hunk: { id: idOf(path, state(from), state(to)), path: name, ...numbers } }]
  }
  const lines = found.map((cut): Part => {
    // Two equal hunks differ by their place in the new file, which stays the same when one of them lands.
    const isTwice = found.filter(({ body }) => body === cut.body).length > 1
    const id = idOf(path, 'lines', cut.body, ...(isTwice ? [String(cut.newStart)] : []))
    return { of: 'lines', hunk: { id, path: name, ...numbersOf(cut) } }
  })
  if (from.mode === to.mode) return lines
  const header = `mode ${from.mode} to ${to.mode}`
  return [{ of: 'mode', hunk: { id: idOf(path, header), path: name, header, ...nowhere } }, ...lines]
}

function numbersOf({ header, oldStart, oldLines, newStart, newLines, insertions, deletions }: Cut) {
  return { header, oldStart, oldLines, newStart, newLines, insertions, deletions }
}

function isPlain({ mode }: Leaf): boolean {
  return mode === '100644' || mode === '100755'
}

function idOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts), 'utf8').digest('hex').slice(0, 16)
}

/** The part of a file that lands: the whole new file, or the chosen lines with the old or the new mode. */
export type Pick = { readonly to: Leaf | null } | { readonly mode: Leaf['mode']; readonly lines: Lines[] }

/** The files of the chosen hunks. Throws `notFound` for an id that no file has. */
export function picks(
  { id: task }: { readonly id: string },
  files: readonly CutFile[],
  ids: readonly string[],
): Map<CutFile, Pick> {
  const known = new Set(files.flatMap(({ parts }) => parts.map(({ hunk }) => hunk.id)))
  const strange = ids.filter((id) => !known.has(id))
  if (strange.length > 0) {
    throw new AppError('notFound', `There is no hunk ${strange.join(', ')} left to land.`, {
      hint: `It has landed, or the work has changed since. offshoot diff ${task} --hunks lists the hunks.`,
      data: { hunks: strange },
    })
  }
  const wanted = new Set(ids)
  const picked = new Map<CutFile, Pick>()
  for (const file of files) {
    const chosen = file.parts.filter(({ hunk }) => wanted.has(hunk.id))
    const { from, to } = file.change
    if (chosen.length === 0) continue
    if (chosen.length === file.parts.length || !from || !to) picked.set(file, { to })
    else {
      const isModeToo = chosen.some(({ of }) => of === 'mode')
      const lines = chosen.filter(({ of }) => of === 'lines').map(({ hunk }) => hunk)
      picked.set(file, { mode: isModeToo ? to.mode : from.mode, lines })
    }
  }
  return picked
}

/** `before` with some of its lines replaced by those of `after`, byte for byte. */
export function withLines(before: Uint8Array, after: Uint8Array, chosen: readonly Lines[]): Buffer {
  const [olds, news] = [lineStarts(before), lineStarts(after)]
  const parts: Uint8Array[] = []
  let done = 0
  for (const { oldStart, oldLines, newStart, newLines } of chosen.toSorted(byPlace)) {
    const old = oldLines === 0 ? oldStart : oldStart - 1
    const now = newLines === 0 ? newStart : newStart - 1
    parts.push(before.subarray(done, olds[old]), after.subarray(news[now], news[now + newLines]))
    done = olds[old + oldLines] ?? before.length
  }
  return Buffer.concat([...parts, before.subarray(done)])
}

function byPlace(a: Lines, b: Lines): number {
  return a.oldStart - b.oldStart || a.newStart - b.newStart
}

/** The offset of each line, and of the end of the text. A line includes its line feed. */
function lineStarts(text: Uint8Array): number[] {
  const starts = [0]
  for (let at = text.indexOf(0x0a); at !== -1; at = text.indexOf(0x0a, at + 1)) starts.push(at + 1)
  if (starts.at(-1) !== text.length) starts.push(text.length)
  return starts
}
