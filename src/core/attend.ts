/** What is done about each event of an agent: a policy before a tool runs, a step after it. */
import path from 'node:path'
import type { AgentEnd, AgentEvent, ToolCall, Verdict } from './agent.ts'
import type { Stray } from './events.ts'
import type { Ports, Progress, Snapshot } from './ports.ts'
import type { ActiveRun } from './run.ts'
import type { Task } from './task.ts'
import { inShort, summaryOf } from './wrap.ts'
import { append } from './tasks/records.ts'

export interface ToldCall {
  readonly tool: string
  readonly summary: string
  readonly call?: string | undefined
}

/** What happens during a run, for whoever looks on. */
export type RunTold =
  | { readonly event: 'queued'; readonly limit: number }
  /** Of making the workspace of a new task. */
  | ({ readonly event: 'progress' } & Progress)
  | { readonly event: 'started'; readonly task: Task; readonly run: string; readonly agent: string }
  | { readonly event: 'conversation'; readonly conversation: string }
  | { readonly event: 'message'; readonly text: string }
  | { readonly event: 'output'; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | ({ readonly event: 'tool.started' } & ToldCall)
  | ({ readonly event: 'tool.ended'; readonly ok: boolean } & ToldCall)
  | ({ readonly event: 'decided'; readonly allow: boolean; readonly reason: string } & ToldCall)
  | { readonly event: 'checkpoint'; readonly taken: Snapshot }
  | { readonly event: 'usage'; readonly inputTokens: number; readonly outputTokens: number }
  | { readonly event: 'strayed'; readonly changes: readonly Stray[] }

export interface Attendance {
  take(event: AgentEvent): Promise<void>
  /** How it ended; before that, that it has not. */
  end(): AgentEnd
  conversation(): string | undefined
}

export interface AttendOptions {
  readonly agent: string
  readonly tell: (event: RunTold) => void
  readonly permit: (call: ToolCall) => Promise<Verdict>
}

export function attendance(ports: Ports, run: ActiveRun, { agent, tell, permit }: AttendOptions): Attendance {
  let end: AgentEnd = { ok: false, reason: `${agent} ended without a word` }
  let conversation: string | undefined
  return {
    end: () => end,
    conversation: () => conversation,
    async take(event) {
      switch (event.type) {
        case 'started':
          if (conversation === event.conversationId) return
          conversation = event.conversationId
          await append(
            ports,
            run.task.uid,
            { type: 'run.conversation', run: run.id, agent, conversation },
            ports.clock.now().toISOString(),
          )
          return tell({ event: 'conversation', conversation })
        case 'message':
          return tell({ event: 'message', text: event.text })
        case 'output':
          return tell({ event: 'output', stream: event.stream, text: event.text })
        case 'asked':
          return event.answer(await permit(event.permission))
        case 'toolStarted':
          return tell({ event: 'tool.started', ...toldCall(event, run.task) })
        case 'toolEnded': {
          tell({ event: 'tool.ended', ok: event.ok, ...toldCall(event, run.task) })
          const taken = await stepOf(run, event)
          if (taken?.created) tell({ event: 'checkpoint', taken })
          return event.release()
        }
        case 'usage':
          return tell({ event: 'usage', inputTokens: event.inputTokens, outputTokens: event.outputTokens })
        case 'ended':
          end = event
      }
    },
  }
}

/** What only looks makes no step, what failed makes none of its name: its leftovers are swept up. */
async function stepOf(
  run: ActiveRun,
  call: ToolCall & { readonly ok: boolean },
): Promise<Snapshot | undefined> {
  if (call.kind === 'read' || call.kind === 'fetch') return undefined
  const { tool, summary } = toldCall(call, run.task)
  if (!call.ok) return run.checkpoint({ tool: 'sweep', summary: `left by ${tool}, which failed` })
  return run.checkpoint({ tool, summary, call: call.id }, call.kind === 'edit' ? call.files : undefined)
}

export function toldCall(call: ToolCall, { path: workspace }: Pick<Task, 'path'>): ToldCall {
  const inside = (file: string) => {
    const relative = path.relative(workspace, path.resolve(workspace, file))
    return relative.startsWith('..') ? file : relative
  }
  const summary =
    call.command ??
    (call.files?.length ? call.files.map(inside).join(', ') : summaryOf(call.name, call.input))
  return { tool: call.name, summary: inShort(summary), call: call.id }
}
