/** Handles each event of an agent: asks the policy before a tool runs, takes a step after it. */
import path from 'node:path'
import { isBelow } from '../base/below.ts'
import { now } from '../base/time.ts'
import type { AgentEvent, PlanEntry, ToolCall, ToolEnded, Permission } from '../model/agent.ts'
import type { NotifyWay } from '../model/enums.ts'
import type { StrayChange } from '../model/events.ts'
import type { Snapshot, StepCall } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import { plus, type Usage, type UsageCount, usedSince, type UsageTold } from '../model/usage.ts'
import { append } from '../tasks/records.ts'
import { beginCall, findCall, type OpenCall, takeStepOf } from './calls.ts'
import type { ActiveRun } from './run.ts'
import { inShort, summaryOf } from './wrap.ts'

export interface ToldCall {
  readonly tool: string
  readonly summary: string
  readonly call?: string | undefined
}

/** The events of a run that onlookers get. */
export type RunTold =
  | { readonly event: 'queued'; readonly limit: number }
  | { readonly event: 'started'; readonly task: Task; readonly run: string; readonly agent: string }
  | { readonly event: 'conversation'; readonly conversation: string }
  | { readonly event: 'message'; readonly text: string; readonly part?: true | undefined }
  | { readonly event: 'output'; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | ({ readonly event: 'tool.started' } & ToldCall)
  | ({ readonly event: 'tool.ended'; readonly ok: boolean } & ToldCall)
  | ({ readonly event: 'decided'; readonly allow: boolean; readonly reason: string } & ToldCall)
  /** Nobody is at a terminal: the question is kept, and waits for `offshoot answer`. */
  | ({
      readonly event: 'waiting'
      readonly question: string
      readonly reason: string
      readonly until: string
    } & ToldCall)
  /** Messages that the user has sent meanwhile begin the next turn. */
  | { readonly event: 'heard'; readonly texts: readonly string[] }
  | { readonly event: 'checkpoint'; readonly taken: Snapshot }
  | { readonly event: 'plan'; readonly entries: readonly PlanEntry[] }
  | { readonly event: 'malformed'; readonly reason: string }
  /** Used since it was last told. */
  | ({ readonly event: 'usage' } & Usage)
  | { readonly event: 'strayed'; readonly changes: readonly StrayChange[] }
  /** The user was notified that way, or could not be, for that reason. A door rings the bell itself. */
  | {
      readonly event: 'notified'
      readonly about: 'asked' | 'ended'
      readonly how: NotifyWay
      readonly reason?: string | undefined
    }

/** Who gets the events of an agent, and which run keeps them. */
export interface Attended {
  readonly workspace: string
  readonly tell: (event: RunTold) => void
  readonly permit: (call: ToolCall) => Promise<Permission>
  /** Is called before the first event of the agent. */
  readonly begun?: (() => Promise<void>) | undefined
  /** The run of a task that keeps the conversation and takes the steps; left out, nothing is kept. */
  readonly kept?: { readonly run: ActiveRun; readonly agent: string } | undefined
}

/** Does what one event asks for, and tells it. The agent goes on when its question is answered or its tool released. */
export async function attendTo(
  event: Exclude<AgentEvent, { type: 'ended' | 'unasked' }>,
  { workspace, tell, permit, kept }: Attended,
): Promise<void> {
  const tellStep = (taken: Snapshot | undefined) =>
    taken?.created ? tell({ event: 'checkpoint', taken }) : undefined
  switch (event.type) {
    case 'started':
      if (kept) await keepConversation(kept, event.conversationId)
      return tell({ event: 'conversation', conversation: event.conversationId })
    case 'message':
      return tell({ event: 'message', text: event.text, ...(event.part && { part: true }) })
    case 'output':
      return tell({ event: 'output', stream: event.stream, text: event.text })
    case 'asked': {
      const verdict = await permit(event.permission)
      if (kept && verdict.allow) tellStep(await beforeCall(kept.run, event.permission))
      return event.answer(verdict)
    }
    case 'toolStarted':
      return tell({ event: 'tool.started', ...toldCall(event, workspace) })
    case 'toolEnded': {
      tell({ event: 'tool.ended', ok: event.ok, ...toldCall(event, workspace) })
      if (kept) tellStep(await afterCall(kept.run, event))
      return event.release()
    }
    case 'backgroundEnded':
      return kept && tellStep(await afterBackground(kept.run, event.id))
    case 'plan':
      return tell({ event: 'plan', entries: event.entries })
    case 'malformed':
      return tell({ event: 'malformed', reason: event.reason })
    case 'usage':
      return tell({ event: 'usage', ...countUsage(kept?.run.usage, event) })
  }
}

/** Adds what was used to the count of the run, and answers it. */
function countUsage(count: UsageCount = { used: undefined, totals: {} }, told: UsageTold): Usage {
  const { used, totals } = usedSince(count.totals, told)
  Object.assign(count, { used: plus(count.used, used), totals })
  return used
}

async function keepConversation(
  { run, agent }: NonNullable<Attended['kept']>,
  conversation: string,
): Promise<void> {
  const event = { type: 'run.conversation', run: run.id, agent, conversation } as const
  await append(run.ports, run.task.uid, event, now(run.ports))
}

/**
 * Notes that the call begins. What commands in the background have written until now is a step of theirs, unless the step
 * of this call holds only files that it names.
 */
async function beforeCall(run: ActiveRun, call: ToolCall): Promise<Snapshot | undefined> {
  if (onlyReads(call)) return undefined
  const other = [...run.calls].find(({ state }) => state === 'background')
  const taken = other && !exactFiles(call) ? await takeStepOf(run, [other]) : undefined
  // Other tools, such as one that starts a subagent, are open while the calls of that subagent are.
  const mayOverlap = call.kind === 'shell' || call.kind === 'edit'
  if (mayOverlap && call.id !== undefined && !findCall(run, call.id)) beginCall(run, stepCall(run, call))
  return taken
}

/** A call that only reads makes no step. The leftovers of a failed call become a sweep, not a step of its name. */
async function afterCall(run: ActiveRun, call: ToolEnded): Promise<Snapshot | undefined> {
  const begun = findCall(run, call.id)
  if (call.neverRan && begun) run.calls.delete(begun)
  if (call.neverRan || onlyReads(call)) return undefined
  const ended = [...(call.batch ?? [])].map((one) => endCall(run, one, one.ok))
  const [first = endCall(run, call, call.ok), ...others] = ended
  if (call.goesOn) first.state = 'background'
  const name = call.batch && toldCall(call, run.task.path)
  return takeStepOf(run, [first, ...others], { files: call.ok ? exactFiles(call) : undefined, name })
}

function endCall(run: ActiveRun, call: ToolCall, ok: boolean): OpenCall {
  const ended = findCall(run, call.id) ?? beginCall(run, stepCall(run, call))
  return Object.assign(ended, { state: 'ended' as const, failed: ok ? undefined : (true as const) })
}

async function afterBackground(run: ActiveRun, id: string): Promise<Snapshot | undefined> {
  const call = findCall(run, id)
  if (call?.state !== 'background') return undefined
  call.state = 'ended'
  return takeStepOf(run, [call])
}

const onlyReads = ({ kind }: ToolCall) => kind === 'read' || kind === 'fetch'

const exactFiles = ({ kind, files }: ToolCall) => (kind === 'edit' ? files : undefined)

function stepCall({ task }: ActiveRun, call: ToolCall): StepCall {
  const { tool, summary } = toldCall(call, task.path)
  return { tool, summary, id: call.id }
}

export function toldCall(call: ToolCall, workspace: string): ToldCall {
  const inside = (file: string) => {
    const full = path.resolve(workspace, file)
    return isBelow(full, workspace) ? path.relative(workspace, full) : file
  }
  const summary =
    call.command ??
    (call.files?.length ? call.files.map(inside).join(', ') : summaryOf(call.name, call.input))
  return { tool: call.name, summary: inShort(summary), call: call.id }
}
