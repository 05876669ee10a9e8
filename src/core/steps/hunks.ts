/** The parts of a change, as `git diff` cuts them: which there are, and a file with only some of them. Pure. */
import { createHash } from 'node:crypto'
import { type BytePath, toText } from '../model/bytes.ts'
import { AppError } from '../model/errors.ts'
import type { Leaf, LeafChange } from '../model/tree.ts'

/** Lines that give way to others. Counted as git does: a start with no lines is the line before. */
export interface Lines {
  readonly oldStart: number
  readonly oldLines: number
  readonly newStart: number
  readonly newLines: number
}

/** One `@@` of a patch. */
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

/** Of lines; without any, of the file as a whole, or of its mode. */
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
 * The cuts of a patch with full object ids, by the contents that they lie between (`<old>..<new>`): the names of files
 * in a patch are quoted in ways that need not be undone. A line of content never begins like a header.
 */
export function parseCuts(patch: string): Map<string, Cut[]> {
  const files = new Map<string, Cut[]>()
  let cuts: Cut[] = []
  let open: { header: string; lines: string[] } | undefined
  const close = () => {
    if (open) cuts.push(cut(open.header, open.lines))
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

function cut(header: string, lines: readonly string[]): Cut {
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

/** Every file with its hunks. A file that is new, gone, binary or no plain file is one hunk. */
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
    // Two hunks of the same words are told apart by where they end up, which landing one of them does not change.
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

/** What becomes of a file when some of its hunks land: all of the new, or chosen lines in one of the two modes. */
export type Pick = { readonly to: Leaf | null } | { readonly mode: Leaf['mode']; readonly lines: Lines[] }

/** Throws `notFound` for an id that is none of theirs. */
export function picks(files: readonly CutFile[], ids: readonly string[]): Map<CutFile, Pick> {
  const known = new Set(files.flatMap(({ parts }) => parts.map(({ hunk }) => hunk.id)))
  const strange = ids.filter((id) => !known.has(id))
  if (strange.length > 0) {
    throw new AppError('notFound', `There is no hunk ${strange.join(', ')} left to land.`, {
      hint: 'It has landed, or the work has changed since. offshoot diff TASK --hunks lists the hunks.',
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

/** Where each line begins, and at last where the text ends. A line ends with its line feed. */
function lineStarts(text: Uint8Array): number[] {
  const starts = [0]
  for (let at = text.indexOf(0x0a); at !== -1; at = text.indexOf(0x0a, at + 1)) starts.push(at + 1)
  if (starts.at(-1) !== text.length) starts.push(text.length)
  return starts
}
