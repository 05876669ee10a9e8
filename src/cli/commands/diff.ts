/** `diff`: prints the changes of a task, or of its steps. */
import { counted } from '../../core/base/counted.ts'
import { type Exclusion, requireCombinable } from '../../core/base/exclusions.ts'
import type { Output } from '../../protocol/schemas/index.ts'
import { type Answer, type Context, flag, text } from '../command.ts'
import { marks, printable, printableDiff, shortList, table } from '../output.ts'

const exclusions: readonly Exclusion<'--stat' | '--name-only' | '--hunks' | '--step' | '--binary'>[] = [
  { options: ['--stat', '--name-only', '--hunks', '--binary'] },
  { options: ['--hunks', '--step'], why: ': it lists the hunks of the whole task' },
]

export async function diff(context: Context): Promise<Answer> {
  const { dir, values, positionals, colored } = context
  const [stat, names, hunks] = [flag(values, 'stat'), flag(values, 'name-only'), flag(values, 'hunks')]
  const [binary, step] = [flag(values, 'binary'), text(values, 'step')]
  requireCombinable(
    { '--stat': stat, '--name-only': names, '--hunks': hunks, '--step': step, '--binary': binary },
    exclusions,
  )
  const answer = await context.call('task.diff', {
    repo: dir,
    task: positionals[0],
    step,
    format: stat ? 'stat' : names ? 'names' : 'patch',
    binary,
    color: colored,
    hunks: hunks || flag(values, 'json'),
  })
  const { noStep = [], unread } = answer
  if (answer.files.length === 0) context.tell('No difference.')
  if (unread !== undefined) context.tell(`Only the steps: ${printable(unread)}`)
  // In a pager a line on stderr would not be seen. Elsewhere it must not stand in a patch or a list.
  const isHeaded = noStep.length > 0 && context.shell.stdout.isTerminal && !hunks
  if (noStep.length > 0 && !isHeaded) context.tell(noStepLine(noStep))
  // The last line feed alone: a patch may end with a line that is empty, or has only spaces.
  const words = answer.diff.replace(/\n$/, '')
  // A patch stays as git made it where a program reads it: escaping would break it for `git apply`.
  const shown = stat || names || context.shell.stdout.isTerminal ? printableDiff(words) : words
  if (hunks) return { json: { ...answer }, text: await listed(answer.hunks ?? []), long: true }
  const head = isHeaded ? `${context.paint('yellow', noStepLine(noStep))}\n` : ''
  return { json: { ...answer }, text: head + shown, long: true }
}

/** `not a step yet: 2 files (+ a.txt, ~ b.txt)` */
export function noStepLine(files: NonNullable<Output<'task.diff'>['noStep']>): string {
  const named = shortList(files.map(({ path, status }) => `${marks[status]} ${path}`))
  return printable(`not a step yet: ${counted(files.length, 'file')} (${named})`)
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
