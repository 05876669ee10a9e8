/** `show`: prints one task. */
import { counted } from '../../core/base/counted.ts'
import { diskText } from '../../core/model/disk-use.ts'
import type { Output } from '../../protocol/schemas/index.ts'
import { type Answer, type Context, flag, text } from '../command.ts'
import {
  ago,
  deniedText,
  fittedLines,
  foldedLines,
  marks,
  printable,
  printableText,
  stateWords,
  table,
  titleLine,
  unheardText,
  visible,
} from '../output.ts'
import { durationText, spentText } from '../spent.ts'
import { strayed } from '../strays.ts'
import { noStepLine } from './diff.ts'
import { stepLine } from './log.ts'

type Shown = Output<'task.show'>

export async function show(context: Context): Promise<Answer> {
  const { dir: repo, values, positionals } = context
  const shown = await context.call('task.show', { repo, task: positionals[0] })
  const use = flag(values, 'disk')
    ? await context.call('system.disk', { repo, task: shown.task.id })
    : undefined
  return answer(context, shown, use)
}

export async function worktreeShow(context: Context): Promise<Answer> {
  const task = text(context.values, 'task')
  return answer(context, await context.call('task.show', { repo: context.dir, task }))
}

async function answer(context: Context, shown: Shown, use?: Output<'system.disk'>): Promise<Answer> {
  const width = context.shell.stdout.columns
  const facts = await named(factsOf(shown, use), width)
  const sections: string[][] = []
  for (const section of await sectionsOf(context, shown)) sections.push(await fitted(section, width))
  const strays = strayed(shown.strays ?? [], shown.operation)
  if (strays.length > 0) sections.push(strays)
  const words = [facts, ...sections].map((lines) => lines.join('\n'))
  return { json: { ...shown, ...(use && { disk: use }) }, text: words.join('\n\n') }
}

type Fact = readonly [name: string, value: string]

function factsOf(
  { task, noStep, unread, files, putAway = 0, otherBranch }: Shown,
  use: Output<'system.disk'> | undefined,
): Fact[] {
  const now = new Date()
  const sum = (side: 'insertions' | 'deletions') => files.reduce((all, file) => all + (file[side] ?? 0), 0)
  const facts: Fact[] = [
    ['task', task.title === '' ? task.id : `${task.id}: ${titleLine(task)}`],
    ['state', stateWords(task)],
    [
      'asks',
      task.asks
        ? `${task.asks.tool} ${task.asks.summary} (${task.asks.reason}): offshoot answer ${task.id}`
        : '',
    ],
    [
      'denied',
      task.denied === undefined ? '' : `${deniedText(task.denied)}: offshoot audit --task ${task.id}`,
    ],
    ['said', task.unheard === undefined ? '' : unheardText(task.unheard)],
    ['asked of you', task.wanted === undefined ? '' : `the agent asks you to ${task.wanted} it`],
    ['agent', task.agent === undefined ? '' : `${task.agent}, ${counted(task.runs, 'run')}`],
    ['last run', task.lastRun ? lastRunText(task.lastRun, now) : ''],
    ['all runs', isOnlyRun(task) ? '' : spentText(task.usage ?? {})],
    ['changes', `${counted(files.length, 'file')}, +${sum('insertions')} -${sum('deletions')}`],
    ['no step yet', noStep?.length ? noStepLine(noStep).replace(/^[^:]*: /, '') : (unread ?? '')],
    ['workspace', task.path],
    ['branch', `${task.branch} at ${task.head.slice(0, 10)}`],
    [
      'checked out',
      otherBranch === undefined
        ? ''
        : `${otherBranch}: offshoot repair ${task.id} goes back to ${task.branch}`,
    ],
    ['left out', task.leftOut ?? ''],
    ['base', `${task.base.branch ?? '(no branch)'} at ${task.base.commit.slice(0, 10)}`],
    ['uncommitted', task.dirty === null ? 'no workspace' : task.dirty ? 'yes' : 'no'],
    [
      'put away',
      putAway > 0 ? `your changes in ${counted(putAway, 'file')}, until it is accepted or rejected` : '',
    ],
    ['landed', task.landed === null ? '' : task.landed ? `in ${task.base.branch}` : 'not yet'],
    ['ports', task.ports === undefined ? '' : `${task.ports[0]}–${task.ports.at(-1)}`],
    ['slug', task.slug],
    ['started', ago(task.createdAt, now)],
    ['last active', ago(task.lastActiveAt, now)],
    [
      'closed',
      task.closedAt === undefined ? '' : `${ago(task.closedAt, now)}, by ${task.closedBy ?? 'offshoot'}`,
    ],
    ['disk', use ? diskText(use) : ''],
  ]
  return facts.filter(([, value]) => value !== '')
}

function lastRunText(run: NonNullable<Shown['task']['lastRun']>, now: Date): string {
  if (run.endedAt !== undefined) return [run.agent, spentText(run)].filter(Boolean).join(', ')
  const seconds = (now.getTime() - Date.parse(run.startedAt)) / 1000
  return `${run.agent}, for ${durationText(seconds)} so far`
}

/** The last run is all there is to sum up. */
function isOnlyRun({ lastRun, usage }: Shown['task']): boolean {
  return usage === undefined || (lastRun?.seconds ?? 0) === usage.seconds
}

/** A value that is too long goes on below itself: a path must stay whole. */
async function named(facts: readonly Fact[], width: number | undefined): Promise<string[]> {
  const indent = Math.max(...facts.map(([name]) => name.length)) + 2
  const lines: string[] = []
  for (const [name, value] of facts) {
    const room = width === undefined ? undefined : Math.max(10, width - indent)
    const [first = '', ...more] = await foldedLines(printable(value), room)
    lines.push(`${name.padEnd(indent)}${first}`, ...more.map((line) => ' '.repeat(indent) + line))
  }
  return lines
}

interface Section {
  readonly head: string
  readonly lines: readonly string[]
  /** Its lines are sentences, which are folded and not cut. */
  readonly prose?: true
}

/** Instead of a tab, whose width depends on its place. */
const gap = '  '

const most = { files: 10, denied: 5, words: 12 }

async function sectionsOf(
  { paint }: Context,
  { task, checkpoints, files, denied, lastWords }: Shown,
): Promise<Section[]> {
  const id = printable(task.id)
  const more = (left: number, how: string) => (left > 0 ? [`and ${left} more: offshoot ${how}`] : [])
  const said =
    lastWords === undefined ? [] : printableText(lastWords.trim()).replaceAll('\t', gap).split('\n')
  const before = task.checkpoints - checkpoints.length
  const listed = files.length === 0 ? [] : (await table(files.slice(0, most.files).map(fileRow))).split('\n')
  return [
    {
      head: 'steps',
      // Without colours: a line that is cut must not lose the end of one.
      lines: [
        ...more(before, `log ${id}`),
        ...checkpoints.map((step) => stepLine((_, words) => words, step)),
      ],
    },
    {
      head: 'files',
      lines: [...listed, ...more(files.length - most.files, `diff ${id} --stat`)],
    },
    {
      head: 'denied in the last run',
      lines: [
        ...denied
          .slice(-most.denied)
          .map(
            ({ tool, summary, reason }) => `${printable(`${tool} ${summary}`.trim())} (${visible(reason)})`,
          ),
        ...more(denied.length - most.denied, `audit --task ${id}`),
      ],
      prose: true,
    },
    {
      head: 'the agent’s last words',
      lines: [...more(said.length - most.words, `log ${id} --agent`), ...said.slice(-most.words)],
      prose: true,
    },
  ].flatMap(({ head, ...section }) =>
    section.lines.length === 0 ? [] : [{ head: paint('bold', `${head}:`), ...section } as Section],
  )
}

/** `+3 -1  ~ src/login.ts` */
function fileRow({ path, status, insertions, deletions }: Shown['files'][number]): string[] {
  return [insertions === null ? 'binary' : `+${insertions} -${deletions}`, `${marks[status]} ${path}`]
}

async function fitted({ head, lines, prose }: Section, width: number | undefined): Promise<string[]> {
  const room = width === undefined ? undefined : width - 2
  const shown = prose
    ? (await Promise.all(lines.map((line) => foldedLines(line, room)))).flat()
    : await fittedLines(lines, room)
  return [head, ...shown.map((line) => `  ${line}`.trimEnd())]
}
