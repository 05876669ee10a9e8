/** Turns the events of a run, while it goes on or in its transcript, into updates of a session. */
import path from 'node:path'
import type {
  ContentChunk,
  PlanEntry,
  SessionUpdate,
  ToolCallUpdate,
  ToolKind,
} from '@agentclientprotocol/sdk'
import { counted } from '../core/base/counted.ts'
import { quoted } from '../core/base/shell-quote.ts'
import type { TaskView } from '../core/model/task-view.ts'
import type { Told } from '../protocol/events.ts'
import type { Output } from '../protocol/schemas/index.ts'

type Transcript = NonNullable<Output<'task.log'>['runs']>[number]
type Asked = Extract<Told, { event: 'asked' }>
interface Call {
  readonly tool: string
  readonly summary: string
  readonly call?: string | undefined
}

export interface Updates {
  take(told: Told): readonly SessionUpdate[]
  /** The call that a question is about, as the client knows it from an update. */
  asked(told: Asked): { readonly updates: readonly SessionUpdate[]; readonly toolCall: ToolCallUpdate }
}

/** `run` keeps calls of two runs apart: agents may use an id again. */
export function openUpdates(run: string, workspace: string): Updates {
  const known = new Map<string, string>()
  let count = 0
  let isBetween = false

  const idOf = (call: Call) => {
    const key = call.call ?? `${call.tool}\n${call.summary}`
    const found = known.get(key)
    const id = found ?? `${run}/${call.call ?? ++count}`
    known.set(key, id)
    return { id, isNew: found === undefined }
  }
  const callUpdate = (call: Call, change: Omit<ToolCallUpdate, 'toolCallId'>): SessionUpdate => {
    const { id, isNew } = idOf(call)
    if (!isNew) return { sessionUpdate: 'tool_call_update', toolCallId: id, ...change }
    const { status, content, locations, rawInput } = change
    return {
      sessionUpdate: 'tool_call',
      toolCallId: id,
      title: titleOf(call),
      name: call.tool,
      kind: kindOf(call.tool),
      ...(status && { status }),
      ...(content && { content }),
      ...(locations && { locations }),
      ...(rawInput !== undefined && { rawInput }),
    }
  }
  const say = (text: string, goesOn = false): SessionUpdate => {
    const begins = isBetween ? `\n\n${text}` : text
    isBetween = !goesOn
    return message(begins)
  }

  return {
    take(told) {
      switch (told.event) {
        case 'message':
          return [say(told.text, told.part)]
        case 'output':
          return [message(told.text)]
        case 'queued':
          return [
            thought(`Waiting: the limit of ${counted(told.limit, 'run')} in this repository is reached.`),
          ]
        case 'tool.started':
          return [callUpdate(told, { status: 'in_progress' })]
        case 'decided':
          return [
            callUpdate(
              told,
              told.allow ? { status: 'in_progress' } : { status: 'failed', ...withText(told.reason) },
            ),
          ]
        case 'tool.ended': {
          const ended = callUpdate(told, { status: told.ok ? 'completed' : 'failed' })
          // The next call without an id may look the same.
          if (told.call === undefined) known.delete(`${told.tool}\n${told.summary}`)
          return [ended]
        }
        case 'checkpoint':
          return [stepUpdate(told.checkpoint)]
        case 'plan':
          return [{ sessionUpdate: 'plan', entries: told.entries.map(planEntry) }]
        case 'waiting':
          return [say(`The agent asks: ${titleOf(told)} (${told.reason}). \`offshoot answer\` answers it.`)]
        default:
          return []
      }
    },
    asked(told) {
      const { input } = told
      const update = callUpdate(told, { status: 'pending', rawInput: input })
      const toolCall = {
        toolCallId: idOf(told).id,
        title: titleOf(told),
        kind: kindOf(told.tool),
        rawInput: input,
      }
      return { updates: [update], toolCall: { ...toolCall, ...withText(told.reason) } }
    },
  }

  /** A step is shown with the call that made it, or by itself. */
  function stepUpdate({
    n,
    files,
    call,
  }: Extract<Told, { event: 'checkpoint' }>['checkpoint']): SessionUpdate {
    const names = files.map((file) => file.path)
    const locations = names.map((name) => ({ path: path.join(workspace, name) }))
    const title = `step ${n}: ${names.join(', ')}`
    const id = call === undefined ? undefined : known.get(call)
    if (id !== undefined)
      return { sessionUpdate: 'tool_call_update', toolCallId: id, locations, ...withText(title) }
    const toolCallId = `${run}/step-${n}`
    return { sessionUpdate: 'tool_call', toolCallId, title, kind: 'other', status: 'completed', locations }
  }
}

/** A past run as updates: what the user said, and what the agent said and did. */
export function replayed({ run, prompt, events }: Transcript, workspace: string): readonly SessionUpdate[] {
  const updates = openUpdates(run, workspace)
  const said = events.flatMap((event) => {
    if (event.event === 'denied') return updates.take({ ...event, event: 'decided', allow: false })
    return event.event === 'step' ? [] : updates.take(event)
  })
  return [{ sessionUpdate: 'user_message_chunk', content: { type: 'text', text: prompt } }, ...said]
}

/** The last words of a turn: what there is to land, and how. The client cannot do it by the protocol. */
export function outcome({ id, state, checkpoints, files, insertions, deletions }: TaskView): SessionUpdate {
  const name = quoted(id)
  const counts = `${counted(checkpoints, 'step')}, ${counted(files, 'file')}, +${insertions} -${deletions}`
  const lands = `Land it on your checkout: \`offshoot accept ${name}\`. Look first: \`offshoot diff ${name}\`.`
  return message(`\n\n${id} ${state}: ${counts}.${files > 0 ? ` ${lands}` : ''}`)
}

/** The protocol wants a priority, and agents tell none. */
const planEntry = ({ text, state }: Extract<Told, { event: 'plan' }>['entries'][number]): PlanEntry => ({
  content: text,
  priority: 'medium',
  status: state,
})
const chunk = (text: string): ContentChunk => ({ content: { type: 'text', text } })
const message = (text: string): SessionUpdate => ({ sessionUpdate: 'agent_message_chunk', ...chunk(text) })
const thought = (text: string): SessionUpdate => ({ sessionUpdate: 'agent_thought_chunk', ...chunk(text) })
const withText = (text: string) => ({
  content: [{ type: 'content' as const, content: { type: 'text' as const, text } }],
})
const titleOf = ({ tool, summary }: Call) => (summary === '' ? tool : summary)

/** Only for the icon of an editor: agents name their tools as they like. */
const kinds: readonly [RegExp, ToolKind][] = [
  [/^(bash|shell|execute|exec\w*|run_shell_command|local_shell)$/i, 'execute'],
  [/^(read|readfile|read_file|ls|list|notebookread|view)$/i, 'read'],
  [/^(glob|grep|search|find\w*|search_file_content)$/i, 'search'],
  [/^(edit|write|multiedit|notebookedit|apply_patch|patch|replace|write_file|delete|move)$/i, 'edit'],
  [/^(webfetch|web_fetch|websearch|fetch)$/i, 'fetch'],
  [/^(todowrite|todoread|think|plan)$/i, 'think'],
]
const kindOf = (tool: string): ToolKind => kinds.find(([form]) => form.test(tool))?.[1] ?? 'other'
