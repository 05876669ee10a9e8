/** `diff`: prints the changes of a task, or of its steps. */
import { type Exclusion, requireCombinable } from '../../core/base/exclusions.ts'
import type { Output } from '../../protocol/schemas/index.ts'
import { type Answer, type Context, flag, text } from '../command.ts'
import { printableDiff, table } from '../output.ts'
import { isTerminal } from '../stdout.ts'

const exclusions: readonly Exclusion<'--stat' | '--name-only' | '--hunks' | '--step'>[] = [
  { options: ['--stat', '--name-only', '--hunks'] },
  { options: ['--hunks', '--step'], why: ': it lists the hunks of the whole task' },
]

export async function diff(context: Context): Promise<Answer> {
  const { dir, values, positionals, colored } = context
  const [stat, names, hunks] = [flag(values, 'stat'), flag(values, 'name-only'), flag(values, 'hunks')]
  requireCombinable(
    { '--stat': stat, '--name-only': names, '--hunks': hunks, '--step': text(values, 'step') },
    exclusions,
  )
  const answer = await context.call('task.diff', {
    repo: dir,
    task: positionals[0],
    step: text(values, 'step'),
    format: stat ? 'stat' : names ? 'names' : 'patch',
    color: colored,
    hunks: hunks || flag(values, 'json'),
  })
  if (answer.files.length === 0) context.tell('No difference.')
  const words = answer.diff.trimEnd()
  // A patch stays as git made it where a program reads it: escaping would break it for `git apply`.
  const shown = stat || names || isTerminal() ? printableDiff(words) : words
  return { json: { ...answer }, text: hunks ? await listed(answer.hunks ?? []) : shown, long: true }
}

/** The id comes first, so that `accept --hunks` can read the list as it is. */
function listed(hunks: NonNullable<Output<'task.diff'>['hunks']>): Promise<string> {
  const rows = hunks.map(({ id, path, header, insertions, deletions }) => [
    id,
    path,
    `+${insertions} -${deletions}`,
    header,
  ])
  return table(rows)
}
