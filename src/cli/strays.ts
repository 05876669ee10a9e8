/** Prints what changed in the user's repository and checkout during a run. */
import type { Output } from '../protocol/schemas/index.ts'
import { printable } from './output.ts'

type Stray = Output<'task.run'>['strays'][number]

/** The changes, and the command that takes back those that are kept. */
export function strayed(strays: readonly Stray[], operation: string | undefined): string[] {
  const isWhole = strays.every(({ kept }) => kept)
  const back = isWhole ? 'puts them back' : 'puts back all but those that are not kept'
  return [
    ...strays.flatMap(strayLines),
    ...(operation === undefined ? [] : [`  undo: offshoot undo ${operation.slice(0, 6)} ${back}`]),
  ]
}

/** Nobody can tell an agent's change from one that the user made meanwhile. */
function strayLines(stray: Stray): string[] {
  const { what, where, commits, why, back, before, after } = stray
  if (where === 'checkout' && before === null && after === null)
    return [printable(`  in your checkout: ${what} (${why})`)]
  const place = where === 'checkout' ? 'checkout' : 'repository'
  const lines = [
    `  changed in your ${place} during the run, by the agent or by you: ${what}${notesOf(stray)}`,
  ]
  if (commits)
    lines.push(
      `    from ${commitText(before, commits.before)}`,
      `    to   ${commitText(after, commits.after)}`,
    )
  if (back !== undefined) lines.push(`    ${why}, so the undo leaves it; to put it back: ${back}`)
  return lines.map(printable)
}

function notesOf({ where, before, after, mode, keys, kept, why, back }: Stray): string {
  const files = where === 'checkout' ? [before === null ? 'new' : after === null ? 'deleted' : 'changed'] : []
  const notes = [
    ...files,
    ...(keys ?? []),
    ...(mode ? [`mode ${mode.before} to ${mode.after}`] : []),
    ...(kept || back !== undefined ? [] : [why === undefined ? 'not kept' : `not kept: ${why}`]),
  ]
  return notes.length > 0 ? ` (${notes.join(', ')})` : ''
}

function commitText(id: string | null, words: { subject: string; author: string } | undefined): string {
  if (id === null) return 'nothing'
  return words ? `${id.slice(0, 10)} ${words.subject} (${words.author})` : id.slice(0, 10)
}
