/** Words for the conflicts of a forecast. */
import { counted } from '../core/base/counted.ts'
import type { Output } from '../protocol/schemas/index.ts'
import { shortList } from './output.ts'

export type Meeting = Pick<Output<'task.forecast'>['pairs'][number], 'level' | 'files' | 'conflicts' | 'why'>
type Conflict = Meeting['conflicts'][number]

/** `src/a.ts (content, lines 3-5 and 9)` */
function conflictText({ path, kind, lines = [] }: Conflict): string {
  return lines.length > 0 ? `${path} (${kind}, ${linesText(lines)})` : `${path} (${kind})`
}

function linesText(ranges: NonNullable<Conflict['lines']>): string {
  const words = ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`))
  const isOne = ranges.length === 1 && ranges[0]?.from === ranges[0]?.to
  return `${isOne ? 'line' : 'lines'} ${words.length > 5 ? `${words.slice(0, 5).join(', ')}, …` : words.join(', ')}`
}

/** What is to be said of a meeting; undefined where nothing meets. */
export function meetingText({ level, files, conflicts, why = '' }: Meeting): string | undefined {
  if (level === 'none') return undefined
  if (level === 'unknown') return `cannot be told: ${why}`
  if (level === 'same-file') return `same file, merges cleanly: ${shortList(files)}`
  return `conflict: ${conflictsText(conflicts)}`
}

export function conflictsText(conflicts: readonly Conflict[]): string {
  return shortList(conflicts.map(conflictText))
}

/** `T7 will then conflict in 2 files` */
export function afterwardsText(later: readonly { task: string; conflicts: readonly Conflict[] }[]): string {
  const words = later.map(({ task, conflicts }) => `${task} will then conflict in ${filesText(conflicts)}`)
  return words.join(', ')
}

function filesText(conflicts: readonly Conflict[]): string {
  return counted(new Set(conflicts.map(({ path }) => path)).size, 'file')
}
