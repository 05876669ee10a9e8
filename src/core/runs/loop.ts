/** Runs an agent in a task, from its first event to its last; one file, as docs/adr/0028-one-cell-one-spawn.md explains. */
import { now } from '../base/time.ts'
import { append } from '../tasks/records.ts'
import type { Agent } from '../ports/agent.ts'
import { type AgentEnd, type AgentInput, isConversationId, type ToolCall } from '../model/agent.ts'
import { type Attended, attendTo, type RunTold } from './attend.ts'
import { AppError } from '../model/errors.ts'
import type { StrayChange } from '../model/events.ts'
import { type Ask, permits } from './permission.ts'
import type { Policy } from './policy.ts'
import type { Cell } from '../ports/sandbox.ts'
import type { Operation } from '../model/operation.ts'
import { findOperation } from '../operations/kept.ts'
import type { Ports } from '../ports/index.ts'
import type { Repo } from '../model/repo.ts'
import type { ActiveRun, RunEnd } from './run.ts'
import { keepStrays, strays, withoutOwn } from './strays.ts'
import type { Surroundings } from '../model/surroundings.ts'
import type { Task } from '../model/task.ts'
import { taskEnvironment } from '../workspaces/environment.ts'
import { turnCounter } from './turns.ts'
import { openCell } from '../workspaces/cell.ts'
import { branchRef } from '../model/refs.ts'
import { runFolder } from '../model/layout.ts'

export interface Onlooker {
  tell(event: RunTold): void
  /** A person who can be asked. */
  readonly ask?: Ask | undefined
}

/** The order for an agent: its prompt, its limits, its policy. */
export interface AgentOrder {
  readonly agent: Agent
  readonly policy: Policy
  readonly limits: Limits
  readonly prompt: string
  /** The command line of a plain command. */
  readonly argv: readonly string[] | undefined
  /** Go on with the last conversation, or with that one. */
  readonly resume: boolean | string | undefined
  /** A failing command is no reason for auto-revert to reject the task. */
  readonly mayFail: boolean
  readonly onlooker: Onlooker | undefined
  /** Asks a person; without it, every call that the policy leaves to a person is denied. */
  readonly ask: Ask | undefined
}

/** 0 is no limit. */
export interface Limits {
  readonly timeMinutes: number
  readonly turns: number
}

export interface RunValue {
  readonly agent: string
  /** Empty when all went well. */
  readonly reason: string
  /** Of a plain command. */
  readonly exitCode: number | undefined
  readonly conversation: string | undefined
  readonly strays: readonly StrayChange[]
  /** The operation whose undo puts back what is kept of them. */
  readonly operation: string | undefined
}

/** Runs the agent: a policy before each tool call, a step after it, and at the end a search for strays. */
export async function workInTask(
  run: ActiveRun,
  order: AgentOrder,
  signal: AbortSignal,
): Promise<RunEnd<RunValue>> {
  const { agent, policy, onlooker, ask } = order
  const { id, ports, repo, task } = run
  const workspace = task.path
  const tell = (event: RunTold) => onlooker?.tell(event)
  tell({ event: 'started', task, run: id, agent: agent.name })

  const { seq } = await ports.store.readPosition([])
  const before = { seq, ...(await ports.git.readSurroundings(repo.place)) }
  const place = { workspace, free: [ports.temp], closed: [ports.home], home: ports.userHome }
  const { readRealPath } = ports.files
  const permit = await permits(run, { policy, place, readRealPath, tell, ask })
  const attended = { workspace, tell, permit, kept: { run, agent: agent.name } }
  const handed = {
    prompt: order.prompt,
    argv: order.argv,
    conversationId: conversationOf(task, agent, order.resume),
    terminal: onlooker === undefined,
    // The verb has refused settings that the user has not trusted.
    projectSettings: true,
  }

  const cell = await openCell(ports, {
    workspace,
    env: { OFFSHOOT_RUN: id, ...taskEnvironment(task) },
    runFolder: runFolder(ports.home, id),
  })
  const said = await converse(agent, handed, cell, attended, order.limits, signal).catch(
    async (thrown: unknown) => {
      await findStrays(run, before, tell).catch(() => {})
      throw thrown
    },
  )
  const cut = said.cut ?? (await findStop(run))

  const strayed = await findStrays(run, before, tell)
  const { end, conversation } = said
  const reason = cut ?? (end.ok ? '' : end.reason)
  const value = { agent: agent.name, reason, exitCode: end.exitCode, conversation, ...strayed }
  // A user who stops an agent decides about the task, so auto-revert leaves it.
  const harmless = cut !== undefined || order.mayFail
  return { value, reason, harmless, ...(end.step ?? { tool: 'sweep', summary: 'at the end of the run' }) }
}

export interface Conversed {
  /** The `ended` event; if the agent sent none, a failure. */
  readonly end: AgentEnd
  readonly conversation: string | undefined
  /** Why it was cut short, if it was. */
  readonly cut: string | undefined
}

/** Handles the events of an agent one by one, within the limits; then closes the cell. */
export async function converse(
  agent: Agent,
  handed: AgentInput,
  cell: Cell,
  attended: Attended,
  { timeMinutes, turns }: Limits,
  signal: AbortSignal,
): Promise<Conversed> {
  const count = turnCounter()
  const late = timeMinutes > 0 ? AbortSignal.timeout(timeMinutes * 60_000) : undefined
  let end: AgentEnd = { ok: false, reason: `${agent.name} ended without a word` }
  let conversation: string | undefined
  try {
    for await (const event of agent.run(handed, cell, late ? AbortSignal.any([signal, late]) : signal)) {
      // The tool call in question never gets its answer, so it does not run.
      if (turns > 0 && count(event) > turns)
        return { end, conversation, cut: `limits.turns: ${turns} answers are over` }
      if (event.type === 'unasked') return { end: unasked(agent, event), conversation, cut: undefined }
      if (event.type === 'ended') end = event
      else if (event.type !== 'started') await attendTo(event, attended)
      else if (!isConversationId(event.conversationId)) await attendTo(badConversation, attended)
      else if (event.conversationId !== conversation) {
        conversation = event.conversationId
        await attendTo(event, attended)
      }
    }
    return { end, conversation, cut: undefined }
  } catch (error) {
    if (signal.aborted || !late?.aborted) throw error
    return { end, conversation, cut: `limits.timeMinutes: ${timeMinutes} minutes are over` }
  } finally {
    await cell.close()
  }
}

/** Without hooks there is no policy: a run in which they are off, or were passed by, does not go on. */
function unasked({ title }: Agent, { name }: ToolCall): AgentEnd {
  return { ok: false, reason: `${title} ran ${name} without asking, so it was stopped` }
}

const badConversation = { type: 'malformed', reason: 'the id of the conversation is not usable' } as const

/** Records and reports what has changed in the user's repository since `before`. */
async function findStrays(
  { id, ports, repo, task }: ActiveRun,
  before: Surroundings & { readonly seq: number },
  tell: Onlooker['tell'],
): Promise<Pick<RunValue, 'strays' | 'operation'>> {
  const after = await ports.git.readSurroundings(repo.place, before)
  const shadow = task.shadow && task.path
  const found = strays(before, after, { branches: await branchesOf(ports, repo), shadow })
  if (found.length === 0) return { strays: [], operation: undefined }
  const theirs = withoutOwn(found, await operationsSince(ports, repo, before.seq))
  const operation = await keepStrays({ ports, repo, task }, theirs)
  const changes = theirs.map(({ change }) => (operation === undefined ? { ...change, kept: false } : change))
  const event = { type: 'run.strayed', run: id, changes } as const
  await append(ports, task.uid, event, now(ports))
  tell({ event: 'strayed', changes })
  return { strays: changes, operation }
}

/** The reason of a `stop`, from the log: the agent itself only knows that it was killed. */
async function findStop({ id, ports, task }: ActiveRun): Promise<string | undefined> {
  const events = await ports.store.readEvents({ uid: task.uid, types: ['run.stopping'] })
  return events.flatMap(({ event }) =>
    event.type === 'run.stopping' && event.run === id ? [event.reason] : [],
  )[0]
}

/** The operations of any task that were carried out since that entry of the log, or are under way. */
async function operationsSince(ports: Ports, repo: Repo, seq: number): Promise<Operation[]> {
  // In this order: one that ends in between is found twice rather than not at all.
  const tasks = await ports.store.readTasks({ repo: repo.id })
  const done = await ports.store.readEvents({ after: seq, types: ['operation.done'] })
  const pending = tasks.flatMap((task) =>
    task.pending?.verb === 'operation' ? [task.pending.operation] : [],
  )
  const ids = new Set([...done.flatMap(({ event }) => ('id' in event ? [event.id] : [])), ...pending])
  const found = await Promise.all([...ids].map((id) => findOperation(ports, repo, id)))
  return found.filter((operation) => operation !== undefined)
}

async function branchesOf(ports: Pick<Ports, 'store'>, repo: Repo): Promise<Set<string>> {
  return new Set((await ports.store.readTasks({ repo: repo.id })).map((task) => branchRef(task.branch)))
}

function conversationOf(
  { conversation, id }: Task,
  agent: Agent,
  resume: AgentOrder['resume'],
): string | undefined {
  if (resume === undefined || resume === false) return undefined
  if (typeof resume === 'string') return requireConversationId(resume)
  if (conversation?.agent === agent.name) return requireConversationId(conversation.id)
  throw new AppError('notFound', `There is no conversation of ${agent.title} in ${id} to go on with.`, {
    hint: `Begin one: offshoot run --task ${id} "…"`,
  })
}

function requireConversationId(id: string): string {
  if (isConversationId(id)) return id
  throw new AppError('wrongUsage', `${JSON.stringify(id)} is no id of a conversation.`, {
    hint: 'It has letters, digits, _ and -, and does not begin with -: offshoot show TASK --json',
  })
}
