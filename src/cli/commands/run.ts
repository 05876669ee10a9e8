import type { Emit } from '../../api/handlers.ts'
import { AppError } from '../../core/errors.ts'
import { policyLevels } from '../../core/policy-levels.ts'
import type { Input, Output } from '../../protocol/actions.ts'
import { type Answer, type Context, flag, text, texts } from '../command.ts'
import { printable } from '../output.ts'
import { personal } from '../run-view.ts'
import { stepLine } from './log.ts'

/** `run "prompt"` or `run -- command…`: starts the task if it is not there. */
export async function run(context: Context): Promise<Answer> {
  const { dir: repo, values, positionals, rest } = context
  const task = text(values, 'task')
  const base = text(values, 'worktree-dir')
  const [prompt] = positionals
  if (rest.length > 0 && prompt === undefined) {
    return cleaned(context, await execute(context, { repo, task, starts: true, base, command: [...rest] }))
  }
  const resumed = text(values, 'resume')
  const resume = resumed === '' ? true : resumed
  if (rest.length > 0 || (prompt === undefined && resume === undefined)) throw what(rest.length > 0)
  const input = { repo, task, starts: resume === undefined, base, resume, prompt: prompt ?? goOn }
  return cleaned(context, await converse(context, { ...input, ...limitsOf(context) }))
}

/** `exec TASK -- command…` */
export async function exec(context: Context): Promise<Answer> {
  const { dir: repo, positionals, rest } = context
  if (rest.length === 0) throw what(false)
  return answer(
    context,
    await execute(context, { repo, task: positionals[0], starts: false, command: [...rest] }),
  )
}

const goOn = 'Go on where you stopped.'

/** `resume TASK ["prompt"]` */
export async function resume(context: Context): Promise<Answer> {
  const { dir: repo, positionals } = context
  const [task, prompt = goOn] = positionals
  const input = { repo, task, starts: false, resume: true, prompt, ...limitsOf(context) }
  return answer(context, await converse(context, input))
}

function limitsOf({ values }: Context) {
  const level = text(values, 'policy')
  const policy = policyLevels.find((known) => known === level)
  if (level !== undefined && policy === undefined) {
    throw new AppError('WT_019', `There is no policy ${level}.`, {
      hint: `One of: ${policyLevels.join(', ')}`,
    })
  }
  return {
    agent: text(values, 'agent'),
    policy,
    allowed: toolsOf(texts(values, 'allowed-tools')),
    denied: toolsOf(texts(values, 'denied-tools')),
    autoContinue: flag(values, 'auto-continue'),
  }
}

/** Commas part them, but not those in brackets: `Read,Bash(git log *)`. */
function toolsOf(given: readonly string[] | undefined): string[] | undefined {
  return given?.flatMap((list) => list.match(/[^,(]+(?:\([^)]*\))?/g) ?? []).map((tool) => tool.trim())
}

function what(both: boolean): AppError {
  const hint = 'offshoot run "what to do", or a command after two dashes: offshoot run -- npm test'
  return new AppError('WT_019', both ? 'An agent or a command? Give one of them.' : 'Run what?', { hint })
}

/** A command speaks to the terminal itself, unless a program listens. */
async function execute(context: Context, input: Input<'task.run'>): Promise<Output<'task.run'>> {
  const emit: Emit | undefined = flag(context.values, 'json') ? context.emit : undefined
  const ran = await context.call('task.run', input, emit)
  if (ran.checkpoint) context.tell(`step ${stepLine(context, ran.checkpoint)}`)
  else context.tell('The command changed nothing.')
  return ran
}

async function converse(context: Context, input: Input<'task.run'>): Promise<Output<'task.run'>> {
  const view = flag(context.values, 'json') ? undefined : personal(context)
  try {
    return await context.call('task.run', input, view?.emit ?? context.emit)
  } finally {
    view?.close()
    if (flag(context.values, 'bell')) process.stderr.write('\u0007')
  }
}

/** With --cleanup the folder goes when all went well; the branch has the work. */
async function cleaned(context: Context, ran: Output<'task.run'>): Promise<Answer> {
  const wanted = flag(context.values, 'cleanup') || flag(context.values, 'worktree-cleanup')
  if (!wanted || ran.task.state !== 'completed') return answer(context, ran)
  const gone = await context.call('worktree.remove', {
    repo: context.dir,
    task: ran.task.id,
    force: true,
    keepBranch: true,
  })
  context.tell(`Took the workspace away; the work is on ${printable(ran.task.branch)}.`)
  return answer(context, { ...ran, task: gone.task })
}

function answer(context: Context, ran: Output<'task.run'>): Answer {
  if (ran.exitCode !== undefined) return { json: { ...ran }, text: '', exitCode: ran.exitCode }
  const { id, state, checkpoints, files, insertions, deletions } = ran.task
  const lines = [
    `${context.paint('bold', id)} ${state}: ${checkpoints} steps, ${files} files, +${insertions} -${deletions}`,
    ...ran.strays.map(({ what }) => `  changed in your repository meanwhile: ${printable(what)}`),
    `  offshoot diff ${id}    offshoot accept ${id}    offshoot resume ${id} "…"    offshoot reject ${id}`,
  ]
  return { json: { ...ran }, text: lines.join('\n') }
}
