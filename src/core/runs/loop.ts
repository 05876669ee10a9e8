/** Runs an agent in a task, from its first event to its last; one file, as docs/adr/0028-one-cell-one-spawn.md explains. */
import path from 'node:path'
import { allEnded } from '../base/concurrency.ts'
import { counted } from '../base/counted.ts'
import { now } from '../base/time.ts'
import { append } from '../tasks/records.ts'
import type { Agent } from '../ports/agent.ts'
import { type AgentEnd, type AgentInput, isConversationId, type ToolCall } from '../model/agent.ts'
import { sweepAtEnd } from './calls.ts'
import { type Attended, attendTo, type RunTold } from './attend.ts'
import { AppError, appError } from '../model/errors.ts'
import type { CheckoutLook } from '../model/checkout-look.ts'
import type { StrayChange } from '../model/events.ts'
import { type Ask, type OpenQuestion, permits } from './permission.ts'
import type { Notifier } from './notify.ts'
import { keepQuestion } from './question.ts'
import { noteHeard, promptOf, readUnheard } from './said.ts'
import type { Policy } from './policy.ts'
import type { Cell } from '../ports/sandbox.ts'
import type { Operation } from '../model/operation.ts'
import { findOperation } from '../operations/kept.ts'
import type { Ports } from '../ports/index.ts'
import type { Repo } from '../model/repo.ts'
import type { ActiveRun, RunEnd } from './run.ts'
import {
  checkoutStrays,
  keepStrays,
  movedBranches,
  type Stray,
  strays,
  untold,
  withMoves,
  withoutOwn,
} from './strays.ts'
import { commandLine } from '../model/redact.ts'
import { keepTranscript } from './transcript.ts'
import type { Surroundings } from '../model/surroundings.ts'
import type { Task } from '../model/task.ts'
import { taskEnvironment } from '../workspaces/environment.ts'
import { type Limits, type LimitsUsed, useLimits } from './turns.ts'
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
  /** How long a question waits that nobody was there for; 0: it is denied at once. */
  readonly askMs: number
  /** Tells the user that a question waits. */
  readonly notify: Pick<Notifier, 'asked'> | undefined
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
  const { agent, argv, onlooker } = order
  const prompt = argv && order.prompt === '' ? commandLine(argv) : order.prompt
  const transcript = keepTranscript(run, { agent: run.task.agent ?? agent.name, prompt })
  const tell = (event: RunTold) => {
    transcript.tell(event)
    onlooker?.tell(event)
  }
  try {
    const ended = await work(run, order, tell, signal)
    await transcript.end(ended.reason)
    return ended
  } catch (thrown) {
    await transcript.end(appError(thrown).message)
    throw thrown
  }
}

async function work(
  run: ActiveRun,
  order: AgentOrder,
  tell: Onlooker['tell'],
  signal: AbortSignal,
): Promise<RunEnd<RunValue>> {
  const { agent, policy, onlooker, notify } = order
  const { id, ports, task } = run
  const workspace = task.path
  tell({ event: 'started', task, run: id, agent: agent.name })
  // First, as it may throw: the look at the checkout makes a copy of the user's index.
  const going = conversationOf(task, agent, order.resume)

  const { seq } = await ports.store.readPosition([])
  const before: Before = { seq, since: ports.clock.now(), ...(await readBefore(run)) }
  const used = useLimits(order.limits)
  const place = { workspace, free: [ports.temp], closed: [ports.home], home: ports.userHome }
  const { readRealPath } = ports.files
  const ask: Ask = (call, reason) => {
    const said = order.ask?.(call, reason)
    if (said) notify?.asked(task, { ...call, reason })
    return said
  }
  const waits = (open: OpenQuestion) => {
    notify?.asked(task, open)
    return keepQuestion(run, open, Math.min(order.askMs, used.leftMs()), tell)
  }
  const keep = order.askMs > 0 ? waits : undefined
  const permit = await permits(run, { policy, place, readRealPath, tell, ask, keep })
  const attended = { workspace, tell, permit, kept: { run, agent: agent.name } }
  if (going !== undefined && going === task.conversation?.id) run.usage.totals = task.conversation.used ?? {}
  const turn = async (prompt: string | undefined, conversationId: string | undefined, texts: string[]) => {
    const handed = {
      prompt: promptOf(texts, prompt),
      argv: order.argv,
      conversationId,
      terminal: onlooker === undefined,
      // The verb has refused settings that the user has not trusted.
      projectSettings: true,
    }
    const cell = await openCell(ports, {
      workspace,
      env: { OFFSHOOT_RUN: id, ...taskEnvironment(task) },
      runFolder: runFolder(ports.home, id),
    })
    const begun = async () => {
      await noteHeard(run, texts.length, going === undefined)
      if (texts.length > 0) tell({ event: 'heard', texts })
    }
    return converse(agent, handed, cell, { ...attended, begun }, used, signal)
  }
  const said = await turns(run, turn, order.prompt, going).catch(async (thrown: unknown) => {
    await findStrays(run, before, tell).catch(() => {})
    throw thrown
  })
  const cut = said.cut ?? (await findStop(run))

  const strayed = await findStrays(run, before, tell)
  const { end, conversation } = said
  const reason = cut ?? (end.ok ? '' : end.reason)
  const value = { agent: agent.name, reason, exitCode: end.exitCode, conversation, ...strayed }
  // A user who stops an agent decides about the task, so auto-revert leaves it.
  const harmless = cut !== undefined || order.mayFail
  return { value, reason, harmless, ...(end.step ?? sweepAtEnd(run)) }
}

type Turn = (
  prompt: string | undefined,
  conversation: string | undefined,
  texts: string[],
) => Promise<Conversed>

/** One turn for the prompt, and one more for as long as the user has said something meanwhile. */
async function turns(
  run: ActiveRun,
  turn: Turn,
  prompt: string,
  going: string | undefined,
): Promise<Conversed> {
  // A new conversation hears nothing that was meant for an earlier one.
  const unheard = () => readUnheard(run, going === undefined)
  // What an earlier run did not hear comes before the new prompt of the same conversation.
  let said = await turn(prompt, going, going === undefined ? [] : await unheard())
  for (;;) {
    const conversation = said.conversation ?? going
    if (!said.end.ok || said.cut !== undefined || conversation === undefined) return said
    const texts = await unheard()
    if (texts.length === 0) return said
    said = { ...(await turn(undefined, conversation, texts)), conversation }
  }
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
  { timeMinutes, turns, count, late }: LimitsUsed,
  signal: AbortSignal,
): Promise<Conversed> {
  let end: AgentEnd = { ok: false, reason: `${agent.name} ended without a word` }
  let conversation: string | undefined
  let hasBegun = false
  try {
    late?.throwIfAborted()
    for await (const event of agent.run(handed, cell, late ? AbortSignal.any([signal, late]) : signal)) {
      if (!hasBegun) await attended.begun?.()
      hasBegun = true
      // The tool call in question never gets its answer, so it does not run.
      if (turns > 0 && count(event) > turns)
        return {
          end,
          conversation,
          cut: `limits.turns: ${counted(turns, 'answer is over', 'answers are over')}`,
        }
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
    return {
      end,
      conversation,
      cut: `limits.timeMinutes: ${counted(timeMinutes, 'minute is over', 'minutes are over')}`,
    }
  } finally {
    await cell.close()
  }
}

/** Without hooks there is no policy: a run in which they are off, or were passed by, does not go on. */
function unasked({ title }: Agent, { name }: ToolCall): AgentEnd {
  return { ok: false, reason: `${title} ran ${name} without asking, so it was stopped` }
}

const badConversation = { type: 'malformed', reason: 'the id of the conversation is not usable' } as const

/** What a run is compared with at its end. */
interface Before extends Surroundings {
  /** The last entry of the log. */
  readonly seq: number
  readonly since: Date
  /** The checkout that the task was started in; undefined when there is none to compare. */
  readonly origin: Repo | undefined
  /** Undefined when the checkout is too large to be compared. */
  readonly look: CheckoutLook | undefined
}

async function readBefore({ ports, repo, task, signal }: ActiveRun): Promise<Omit<Before, 'seq' | 'since'>> {
  // On a shadow branch the task works in the checkout itself.
  const place = task.shadow ? undefined : await ports.locate(task.origin).catch(() => undefined)
  const origin = place?.checkout ? { ...repo, place } : undefined
  const [surroundings, look] = await allEnded([
    ports.git.readSurroundings(repo.place),
    origin
      ? ports.contents.lookAtCheckout(origin, task, signal).catch(unlessCancelled)
      : Promise.resolve(undefined),
  ])
  return { ...surroundings, origin, look }
}

/** A checkout that cannot be looked at must not keep an agent from its work; the run tells that it was not compared. */
function unlessCancelled(thrown: unknown): undefined {
  const error = appError(thrown)
  if (error.kind === 'cancelled') throw error
}

/** Records and reports what has changed in the user's repository and checkout since `before`. */
async function findStrays(
  run: ActiveRun,
  before: Before,
  tell: Onlooker['tell'],
): Promise<Pick<RunValue, 'strays' | 'operation'>> {
  const { id, ports, repo, task } = run
  const after = await ports.git.readSurroundings(repo.place, before)
  const shadow = task.shadow && task.path
  const branches = await branchesOf(ports, repo)
  const found = [
    ...(await askMoves(run, before, after, strays(before, after, { branches, shadow }), branches)),
    ...(await findInCheckout(run, before)),
  ]
  if (found.length === 0) return { strays: [], operation: undefined }
  const theirs = withoutOwn(found, await operationsSince(ports, repo, before.seq))
  const operation = await keepStrays({ ports, repo, task }, theirs)
  const changes = theirs.map(({ change }) => (operation === undefined ? { ...change, kept: false } : change))
  const event = { type: 'run.strayed', run: id, changes, operation } as const
  await append(ports, task.uid, event, now(ports))
  tell({ event: 'strayed', changes })
  return { strays: changes, operation }
}

/** Adds what git knows of branches that moved. */
async function askMoves(
  { ports, repo }: ActiveRun,
  before: Before,
  after: Surroundings,
  found: readonly Stray[],
  branches: ReadonlySet<string>,
): Promise<readonly Stray[]> {
  const changes = movedBranches(found)
  if (changes.length === 0 && !found.some(({ change }) => path.basename(change.what) === 'HEAD')) return found
  const made = [...after.refs].flatMap(([ref, value]) => (branches.has(ref) ? [value] : []))
  const known = [...before.refs.values(), ...made].filter((value) => !value.startsWith('ref: '))
  return withMoves(found, await ports.git.readRefMoves(repo.place, { changes, known, since: before.since }))
}

async function findInCheckout({ ports, task }: ActiveRun, before: Before): Promise<readonly Stray[]> {
  const { origin, look, hookFolders } = before
  if (!origin) return []
  const compared = look && (await ports.contents.compareCheckout(origin, task, look).catch(() => undefined))
  if (!look || !compared)
    return [untold(task.origin, 'it could not be compared with the start of the run in time')]
  return checkoutStrays(look.checkout, compared, hookFolders)
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
  if (typeof resume === 'string') return requireConversationId(resume, id)
  if (conversation?.agent === agent.name) return requireConversationId(conversation.id, id)
  throw new AppError('notFound', `There is no conversation of ${agent.title} in ${id} to go on with.`, {
    hint: `Begin one: offshoot run --task ${id} "…"`,
  })
}

function requireConversationId(id: string, task: string): string {
  if (isConversationId(id)) return id
  throw new AppError('wrongUsage', `${JSON.stringify(id)} is no id of a conversation.`, {
    hint: `It has letters, digits, _ and -, and does not begin with -. offshoot show ${task} --json shows the last one.`,
  })
}
