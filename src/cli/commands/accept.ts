/** `accept`: lands the work of a task, and offers to reject the other tasks of the same prompt. */
import { AppError } from '../../core/model/errors.ts'
import { strategies, strategyFacts } from '../../core/model/strategies.ts'
import type { Said } from '../../protocol/events.ts'
import type { Output } from '../../protocol/schemas/index.ts'
import { ask } from '../ask.ts'
import { type Answer, choice, type Context, flag, text, texts } from '../command.ts'
import { hunkIds } from '../hunk-ids.ts'
import { counted } from '../../core/base/counted.ts'
import { marks, printable } from '../output.ts'

export async function accept(context: Context): Promise<Answer> {
  const { dir, values, positionals } = context
  const input = {
    repo: dir,
    task: positionals[0],
    as: choice(values, 'as', strategies),
    onto: text(values, 'onto'),
    message: text(values, 'message'),
    only: texts(values, 'only'),
    steps: texts(values, 'step')?.map((step) => stepNumber(step, positionals[0])),
    hunks: await hunkIds(context),
    conflicts: choice(values, 'conflicts', ['fail', 'markers']),
    dryRun: flag(values, 'dry-run'),
    keep: flag(values, 'keep'),
    allow: texts(values, 'allow'),
    failOnRisk: flag(values, 'fail-on-risk'),
    hooks: flag(values, 'hooks'),
  }
  const answer = await context.call('task.accept', input, (told) =>
    told.event === 'risky' ? agreed(context, told.risks) : context.hear(told),
  )
  const { task, siblings = [], skipped = [] } = answer
  for (const { path, why } of skipped)
    context.tell(printable(`Not landed, as no step holds it: ${path} (${why})`))
  const rejected = await rejectRest(context, task.id, siblings)
  const rest = rejected ? siblings.map((id) => `Rejected ${id}`) : hint(siblings)
  return { json: { ...answer }, text: [outcomeText(context, answer), ...rest].join('\n') }
}

/** Asks before something lands that runs code later. `deny` refuses it; where nobody can answer, it lands and is told. */
async function agreed(context: Context, risks: Risks): Promise<Said | undefined> {
  const { values, paint, signal } = context
  if (flag(values, 'json') || flag(values, 'yes')) return undefined
  const lines = risks.map((risk) => paint('yellow', riskLine(risk)))
  const said = await ask([...lines, 'Land it? [y/N] '].join('\n'), signal)
  return said === undefined || said.startsWith('y') ? 'once' : 'deny'
}

type Risks = NonNullable<Output<'task.accept'>['accepted']>['risks']

function riskLine({ path, why }: Risks[number]): string {
  return printable(`  look at ${path}: ${why}`)
}

/** Asks whether to reject the other tasks that were given the same prompt, and does so. */
async function rejectRest(context: Context, id: string, siblings: readonly string[]): Promise<boolean> {
  if (siblings.length === 0 || flag(context.values, 'json')) return false
  const which = siblings.join(', ')
  const said = await ask(
    `Accepted ${id}. Reject the other tasks of the same prompt (${which})? [y/N] `,
    context.signal,
  )
  if (!said?.startsWith('y')) return false
  for (const task of siblings) await context.call('task.reject', { repo: context.dir, task })
  return true
}

function hint(siblings: readonly string[]): string[] {
  if (siblings.length === 0) return []
  return [
    `  reject the other tasks of the same prompt: ${siblings.map((id) => `offshoot reject ${id}`).join('; ')}`,
  ]
}

function stepNumber(step: string, task = ''): number {
  if (/^[1-9]\d*$/.test(step)) return Number(step)
  throw new AppError(
    'wrongUsage',
    `\`accept\`: --step takes the number of a step, not ${JSON.stringify(step)}.`,
    {
      hint: `${`offshoot log ${task}`.trim()} lists the steps.`,
    },
  )
}

function outcomeText(
  { paint }: Context,
  { task, preview, accepted, conflicts = [], operation }: Output<'task.accept'>,
): string {
  if (preview) {
    const marked = (style: 'yellow' | 'red', line: string) => lines.push(paint(style, printable(line)))
    const lines = preview.files.map(({ path, status }) => printable(`  ${marks[status]} ${path}`))
    for (const risk of preview.risks) lines.push(paint('yellow', riskLine(risk)))
    for (const { path, why } of preview.refused) marked('red', `  needs --allow: ${path} (${why})`)
    for (const { path, kind } of preview.conflicts) marked('red', `  conflict (${kind}): ${path}`)
    for (const { path, kind } of preview.marked) marked('yellow', `  markers (${kind}): ${path}`)
    return [`${task.id} ${outlook(preview)}:`, ...lines].join('\n')
  }
  const looks = (accepted?.risks ?? []).map((risk) => paint('yellow', riskLine(risk)))
  if (accepted && strategyFacts[accepted.as].final !== undefined)
    return [...requested(task, accepted), ...looks].join('\n')
  const files = counted(accepted?.files.length ?? 0, 'file')
  const open = task.state === 'accepted' || task.state === 'kept' ? '' : '; the task stays open'
  return [
    `Accepted ${task.id} as ${accepted?.as}: ${files}${printable(placeOf(task, accepted))}${open}`,
    ...looks,
    ...conflicts.map(({ path, kind }) => printable(`  conflict to resolve: ${path} (${kind})`)),
    `  undo: offshoot undo ${operation?.slice(0, 6)}`,
  ].join('\n')
}

/** ` on main, commit 5dd76903d8`; a patch lands in the checkout, so it names no place. */
function placeOf(
  { branch, state }: Output<'task.accept'>['task'],
  accepted: Output<'task.accept'>['accepted'],
): string {
  if (accepted?.onto !== undefined) return ` on ${accepted.onto}, commit ${accepted.commit?.slice(0, 10)}`
  return state === 'kept' ? ` on ${branch}` : ''
}

/** A refused path keeps the task from landing, just as a conflict does. */
function outlook({ conflicts, marked, refused }: NonNullable<Output<'task.accept'>['preview']>): string {
  if (conflicts.length > 0 || refused.length > 0) return 'would not land'
  return marked.length > 0 ? 'would land with conflict markers' : 'would land cleanly'
}

function requested(
  { id, state }: Output<'task.accept'>['task'],
  { onto, url }: NonNullable<Output<'task.accept'>['accepted']>,
): string[] {
  const open = state === 'kept' ? '' : '; the task stays open'
  return [
    printable(`Opened a pull request for ${id} into ${onto}${open}`),
    ...(url === undefined ? [] : [printable(`  ${url}`)]),
  ]
}
