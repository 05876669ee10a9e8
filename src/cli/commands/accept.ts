/** `accept`: lands the work of a task, and offers to reject the other tasks of the same prompt. */
import { AppError } from '../../core/model/errors.ts'
import { strategies, strategyFacts } from '../../core/model/strategies.ts'
import type { Said } from '../../protocol/events.ts'
import type { Output } from '../../protocol/schemas/index.ts'
import { type Answer, choice, type Context, flag, text, texts } from '../command.ts'
import { hunkIds } from '../hunk-ids.ts'
import { counted } from '../../core/base/counted.ts'
import { leftFolder } from '../left-folder.ts'
import { allowing } from '../../core/base/shell-quote.ts'
import { leftLine, marks, printable, shortList } from '../output.ts'

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
    withoutFailed: flag(values, 'without-failed') || undefined,
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
  const rejected = await rejectRest(context, answer)
  const rest = rejected
    ? siblings.map((id) => `Rejected ${id}; the undo brings it back, too`)
    : hint(siblings)
  return {
    json: { ...answer },
    text: [outcomeText(context, answer), ...leftFolder(context, task).map(printable), ...rest].join('\n'),
  }
}

/** Asks before something lands that runs code later. `deny` refuses it; where nobody can answer, it lands and is told. */
async function agreed(context: Context, risks: Risks): Promise<Said | undefined> {
  const { values, paint, shell, signal } = context
  if (flag(values, 'json') || flag(values, 'yes')) return undefined
  const lines = risks.map((risk) => paint('yellow', riskLine(risk)))
  const said = await shell.ask([...lines, 'Land it? [y/N] '].join('\n'), signal)
  return said === undefined || said.startsWith('y') ? 'once' : 'deny'
}

type Risks = NonNullable<Output<'task.accept'>['accepted']>['risks']

function riskLine({ path, why }: Risks[number]): string {
  return printable(`  look at ${path}: ${why}`)
}

/** The steps that stay behind, because a failed tool left them. */
function leftOutLines(leftovers: NonNullable<Output<'task.accept'>['accepted']>['leftovers']): string[] {
  return leftovers.flatMap(({ n, tool, files, landed }) =>
    landed ? [] : [`  left out: step ${n}, left by ${tool}, which failed (${shortList(files)})`],
  )
}

/** Asks whether to reject the other tasks that were given the same prompt, and does so: one undo takes all of it back. */
async function rejectRest(
  context: Context,
  { task: { id }, siblings = [], operation: batch }: Output<'task.accept'>,
): Promise<boolean> {
  // Whoever cancelled too late wants no further question.
  if (siblings.length === 0 || flag(context.values, 'json') || context.signal.aborted) return false
  const which = siblings.join(', ')
  const said = await context.shell.ask(
    `Accepted ${id}. Reject the other tasks of the same prompt (${which})? [y/N] `,
    context.signal,
  )
  if (!said?.startsWith('y')) return false
  for (const task of siblings) await context.call('task.reject', { repo: context.dir, task, batch })
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
  { task, preview, accepted, conflicts = [], left = [], operation }: Output<'task.accept'>,
): string {
  if (preview) {
    const marked = (style: 'yellow' | 'red', line: string) => lines.push(paint(style, printable(line)))
    const lines = preview.files.map(({ path, status }) => printable(`  ${marks[status]} ${path}`))
    for (const risk of preview.risks) lines.push(paint('yellow', riskLine(risk)))
    for (const line of leftOutLines(preview.leftovers)) marked('yellow', line)
    for (const path of preview.left) marked('yellow', `  stays open: ${path} (${noPlace})`)
    for (const { path, why } of preview.refused) marked('red', `  needs --allow: ${path} (${why})`)
    for (const conflict of preview.conflicts) marked('red', `  ${conflictText(conflict)}`)
    for (const { path, kind } of preview.marked) marked('yellow', `  markers (${kind}): ${path}`)
    if (preview.hint !== undefined) lines.push(printable(`  hint: ${preview.hint}`))
    return [`${task.id} ${outlook(preview)}${lines.length > 0 ? ':' : ''}`, ...lines].join('\n')
  }
  const looks = [
    ...(accepted?.risks ?? []).map((risk) => paint('yellow', riskLine(risk))),
    ...leftOutLines(accepted?.leftovers ?? []).map((line) => paint('yellow', printable(line))),
  ]
  if (accepted && strategyFacts[accepted.as].final !== undefined)
    return [...requested(task, accepted), ...looks].join('\n')
  const count = accepted?.files.length ?? 0
  const landed =
    count === 0
      ? 'there was nothing to land'
      : `${counted(count, 'file')}${printable(placeOf(task, accepted))}`
  const open = task.state === 'accepted' || task.state === 'kept' ? '' : '; the task stays open'
  return [
    `Accepted ${task.id} as ${accepted?.as}: ${landed}${open}`,
    ...looks,
    ...left.map((path) => paint('yellow', printable(leftLine(path)))),
    ...leftOpen(task, accepted),
    ...conflicts.map(({ path, kind }) => printable(`  conflict to resolve: ${path} (${kind})`)),
    `  undo: offshoot undo ${operation?.slice(0, 6)}`,
  ].join('\n')
}

const noPlace = 'only a commit has a place for a submodule'

function leftOpen(
  { id }: Output<'task.accept'>['task'],
  accepted: Output<'task.accept'>['accepted'],
): string[] {
  const { left = [] } = accepted ?? {}
  if (left.length === 0) return []
  const allowed = left.map((file) => allowing(file)).join(' ')
  return [
    printable(`  not landed: ${left.join(', ')} (${noPlace})`),
    printable(`  land it as a commit: offshoot accept ${id} --as squash ${allowed}`),
  ]
}

/** ` on main, commit 5dd76903d8`; a patch lands in the checkout, so it names no place. */
function placeOf(
  { branch, state }: Output<'task.accept'>['task'],
  accepted: Output<'task.accept'>['accepted'],
): string {
  if (accepted?.onto !== undefined) return ` on ${accepted.onto}, commit ${accepted.commit?.slice(0, 10)}`
  return state === 'kept' ? ` on ${branch}` : ''
}

function conflictText({ path, kind, line }: NonNullable<Output<'task.accept'>['conflicts']>[number]): string {
  return kind === 'markers'
    ? `${path} still has conflict markers (line ${line})`
    : `conflict (${kind}): ${path}`
}

/** A refused path keeps the task from landing, just as a conflict does. */
function outlook({
  conflicts,
  files,
  marked,
  refused,
}: NonNullable<Output<'task.accept'>['preview']>): string {
  if (conflicts.length > 0 || refused.length > 0) return 'would not land'
  if (files.length === 0) return 'has nothing to land'
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
