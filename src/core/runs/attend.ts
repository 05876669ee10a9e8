/** Handles each event of an agent: asks the policy before a tool runs, takes a step after it. */
import path from 'node:path'
import { isBelow } from '../base/below.ts'
import { now } from '../base/time.ts'
import type { AgentEvent, ToolCall, Permission } from '../model/agent.ts'
import type { StrayChange } from '../model/events.ts'
import type { Progress } from '../model/progress.ts'
import type { Snapshot } from '../model/step.ts'
import type { Task } from '../model/task.ts'
import { checkpointTask } from '../steps/take.ts'
import { append } from '../tasks/records.ts'
import type { ActiveRun } from './run.ts'
import { inShort, summaryOf, sweepAfter } from './wrap.ts'

export interface ToldCall {
  readonly tool: string
  readonly summary: string
  readonly call?: string | undefined
}

/** The events of a run that onlookers get. */
export type RunTold =
  | { readonly event: 'queued'; readonly limit: number }
  /** Progress of the checkout for a new task. */
  | ({ readonly event: 'progress' } & Progress)
  | { readonly event: 'started'; readonly task: Task; readonly run: string; readonly agent: string }
  | { readonly event: 'conversation'; readonly conversation: string }
  | { readonly event: 'message'; readonly text: string }
  | { readonly event: 'output'; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | ({ readonly event: 'tool.started' } & ToldCall)
  | ({ readonly event: 'tool.ended'; readonly ok: boolean } & ToldCall)
  | ({ readonly event: 'decided'; readonly allow: boolean; readonly reason: string } & ToldCall)
  | { readonly event: 'checkpoint'; readonly taken: Snapshot }
  | { readonly event: 'malformed'; readonly reason: string }
  | { readonly event: 'usage'; readonly inputTokens: number; readonly outputTokens: number }
  | { readonly event: 'strayed'; readonly changes: readonly StrayChange[] }

/** Who gets the events of an agent, and which run keeps them. */
export interface Attended {
  readonly workspace: string
  readonly tell: (event: RunTold) => void
  readonly permit: (call: ToolCall) => Promise<Permission>
  /** The run of a task that keeps the conversation and takes the steps; left out, nothing is kept. */
  readonly kept?: { readonly run: ActiveRun; readonly agent: string } | undefined
}

/** Does what one event asks for, and tells it. The agent goes on when its question is answered or its tool released. */
export async function attendTo(
  event: Exclude<AgentEvent, { type: 'ended' | 'unasked' }>,
  { workspace, tell, permit, kept }: Attended,
): Promise<void> {
  switch (event.type) {
    case 'started':
      if (kept) await keepConversation(kept, event.conversationId)
      return tell({ event: 'conversation', conversation: event.conversationId })
    case 'message':
      return tell({ event: 'message', text: event.text })
    case 'output':
      return tell({ event: 'output', stream: event.stream, text: event.text })
    case 'asked':
      return event.answer(await permit(event.permission))
    case 'toolStarted':
      return tell({ event: 'tool.started', ...toldCall(event, workspace) })
    case 'toolEnded': {
      tell({ event: 'tool.ended', ok: event.ok, ...toldCall(event, workspace) })
      const taken = kept && (await takeStepOf(kept.run, event))
      if (taken?.created) tell({ event: 'checkpoint', taken })
      return event.release()
    }
    case 'malformed':
      return tell({ event: 'malformed', reason: event.reason })
    case 'usage':
      return tell({ event: 'usage', inputTokens: event.inputTokens, outputTokens: event.outputTokens })
  }
}

async function keepConversation(
  { run, agent }: NonNullable<Attended['kept']>,
  conversation: string,
): Promise<void> {
  const event = { type: 'run.conversation', run: run.id, agent, conversation } as const
  await append(run.ports, run.task.uid, event, now(run.ports))
}

/** A call that only reads makes no step. The leftovers of a failed call become a sweep, not a step of its name. */
async function takeStepOf(
  run: ActiveRun,
  call: ToolCall & { readonly ok: boolean },
): Promise<Snapshot | undefined> {
  if (call.kind === 'read' || call.kind === 'fetch') return undefined
  const { tool, summary } = toldCall(call, run.task.path)
  if (!call.ok) return checkpointTask(run, sweepAfter(tool, run.id))
  const note = { tool, summary, call: call.id, run: run.id }
  return checkpointTask(run, note, call.kind === 'edit' ? call.files : undefined)
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
