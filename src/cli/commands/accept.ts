import { AppError } from '../../core/model/errors.ts'
import { strategies, strategyFacts } from '../../core/model/strategies.ts'
import type { Output } from '../../protocol/schemas/index.ts'
import { ask } from '../ask.ts'
import { type Answer, choice, type Context, flag, text, texts } from '../command.ts'
import { hunkIds } from '../hunk-ids.ts'
import { counted, marks, printable } from '../output.ts'

export async function accept(context: Context): Promise<Answer> {
  const { dir, values, positionals } = context
  const answer = await context.call('task.accept', {
    repo: dir,
    task: positionals[0],
    as: choice(values, 'as', strategies),
    onto: text(values, 'onto'),
    message: text(values, 'message'),
    only: texts(values, 'only'),
    steps: texts(values, 'step')?.map(stepNumber),
    hunks: await hunkIds(context),
    conflicts: choice(values, 'conflicts', ['fail', 'markers']),
    dryRun: flag(values, 'dry-run'),
    keep: flag(values, 'keep'),
    allow: texts(values, 'allow'),
    hooks: flag(values, 'hooks'),
  })
  const { task, siblings = [] } = answer
  const rejected = await rejectRest(context, task.id, siblings)
  const rest = rejected ? siblings.map((id) => `Rejected ${id}; undo brings it back`) : hint(siblings)
  return { json: { ...answer }, text: [told(context, answer), ...rest].join('\n') }
}

/** Of several that did the same one is enough: whether the user wants the others gone. */
async function rejectRest(context: Context, id: string, siblings: readonly string[]): Promise<boolean> {
  if (siblings.length === 0 || flag(context.values, 'json')) return false
  const which = siblings.join(', ')
  const said = await ask(
    `${id} has landed. Reject the ones that did the same: ${which}? [y/N] `,
    context.signal,
  )
  if (!said?.startsWith('y')) return false
  for (const task of siblings) await context.call('task.reject', { repo: context.dir, task })
  return true
}

function hint(siblings: readonly string[]): string[] {
  if (siblings.length === 0) return []
  return [`  reject those that did the same: ${siblings.map((id) => `offshoot reject ${id}`).join('; ')}`]
}

function stepNumber(step: string): number {
  if (/^[1-9]\d*$/.test(step)) return Number(step)
  throw new AppError('wrongUsage', `${JSON.stringify(step)} is no step.`, {
    hint: 'offshoot log shows the steps.',
  })
}

function told(
  { paint }: Context,
  { task, preview, accepted, conflicts = [], operation }: Output<'task.accept'>,
): string {
  if (preview) {
    const marked = (style: 'yellow' | 'red', line: string) => lines.push(paint(style, printable(line)))
    const lines = preview.files.map(({ path, status }) => printable(`  ${marks[status]} ${path}`))
    for (const path of preview.runsCode) marked('yellow', `  runs code later: ${path}`)
    for (const { path, why } of preview.refused) marked('red', `  needs --allow: ${path} (${why})`)
    for (const { path, kind } of preview.conflicts) marked('red', `  conflict (${kind}): ${path}`)
    for (const { path, kind } of preview.marked) marked('yellow', `  markers (${kind}): ${path}`)
    return [`${task.id} ${outlook(preview)}:`, ...lines].join('\n')
  }
  if (accepted && strategyFacts[accepted.as].final !== undefined) return printable(requested(task, accepted))
  const where = accepted?.onto === undefined ? '' : ` on ${accepted.onto} as ${accepted.commit?.slice(0, 10)}`
  const open = task.state === 'accepted' || task.state === 'kept' ? '' : '; the task stays open'
  return [
    `Landed ${counted(accepted?.files.length ?? 0, 'file')} of ${task.id} (${accepted?.as})${printable(where)}${open}`,
    ...conflicts.map(({ path, kind }) => printable(`  to be solved: ${path} (${kind})`)),
    `  undo: offshoot undo ${operation?.slice(0, 6)}`,
  ].join('\n')
}

/** What is refused lands no more than what is in conflict. */
function outlook({ conflicts, marked, refused }: NonNullable<Output<'task.accept'>['preview']>): string {
  if (conflicts.length > 0 || refused.length > 0) return 'would not land'
  return marked.length > 0 ? 'would land with conflict markers' : 'would land cleanly'
}

function requested(
  { id, state }: Output<'task.accept'>['task'],
  { onto, url }: NonNullable<Output<'task.accept'>['accepted']>,
): string {
  const open = state === 'kept' ? '' : '; the task stays open'
  return [
    `Opened a pull request for ${id} into ${onto}${open}`,
    ...(url === undefined ? [] : [`  ${url}`]),
  ].join('\n')
}
