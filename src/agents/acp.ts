/**
 * Any agent that speaks the Agent Client Protocol. It tells what it has done and does not wait, so a step may hold more
 * than one tool call; and it asks when it likes to, so a policy is kept only where it asks.
 */
import type { Agent, AgentEnd, AgentInput, ToolCall, ToolKind, Verdict } from '../core/agent.ts'
import { AppError } from '../core/errors.ts'
import type { Cell, CommandStdin } from '../core/ports.ts'
import { events, type Push } from './events.ts'
import { jsonLines } from './lines.ts'
import { lastWords } from './words.ts'

export const acp: Agent = {
  name: 'acp',
  title: 'An agent that speaks ACP',
  exact: false,
  asks: false,
  run: (input, cell, cancel) =>
    events(cancel, async (push, signal) => {
      const { argv = [] } = input
      if (argv.length === 0) {
        throw new AppError('WT_019', 'Which agent speaks ACP?', {
          hint: 'Give its command after two dashes: offshoot run --agent acp "…" -- gemini --acp',
        })
      }
      const said = lastWords()
      // Not every agent leaves when nobody speaks to it any more.
      const done = new AbortController()
      let talk: ReturnType<typeof acpTalk> | undefined
      const read = jsonLines((message) => talk?.read(message))
      const call = {
        argv,
        onOutput: (stream: 'stdout' | 'stderr', text: string) =>
          stream === 'stdout' ? read.add(text) : said.add(text),
        onStart: (stdin: CommandStdin) => {
          talk = acpTalk(push, stdin)
          void talk.converse(input, cell).finally(() => {
            stdin.end()
            setTimeout(() => done.abort(), leaveMs).unref()
          })
        },
      }
      const running = cell.run(call, AbortSignal.any([signal, done.signal]))
      const code = await running.catch((error: unknown) => {
        if (signal.aborted || !done.signal.aborted) throw error
        return 0
      })
      push({ type: 'ended', ...(talk?.end() ?? said.failure(argv[0] ?? '', code)) })
    }),
}

const leaveMs = 2_000

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: {
    readonly update?: Update
    readonly toolCall?: Update
    readonly options?: readonly Option[]
  }
  readonly result?: { readonly sessionId?: string; readonly stopReason?: string }
  readonly error?: { readonly message?: string; readonly data?: unknown }
}

interface Update {
  readonly sessionUpdate?: string
  readonly content?: { readonly text?: string }
  readonly toolCallId?: string
  readonly title?: string
  readonly kind?: string
  readonly status?: string
  readonly rawInput?: { readonly command?: unknown }
  readonly locations?: readonly { readonly path: string }[]
}

interface Option {
  readonly optionId: string
  readonly kind: string
}

export function acpTalk(push: Push, stdin: CommandStdin) {
  let end: AgentEnd | undefined
  let asked = 0
  const waiting = new Map<number | string, (message: Message) => void>()
  const calls = new Map<string, Update>()
  const write = (message: object) => stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

  const request = async (method: string, params: object): Promise<NonNullable<Message['result']>> => {
    const id = ++asked
    write({ id, method, params })
    const { result, error } = await new Promise<Message>((resolve) => waiting.set(id, resolve))
    if (error) throw new Error(error.message ?? `${method} failed`)
    return result ?? {}
  }

  const onUpdate = (update: Update) => {
    const id = update.toolCallId ?? ''
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return push({ type: 'message', text: update.content?.text ?? '' })
      case 'tool_call':
      case 'tool_call_update': {
        const known = calls.get(id)
        const whole = { ...known, ...update }
        calls.set(id, whole)
        if (!known) push({ type: 'toolStarted', ...acpCall(whole) })
        if (update.status !== 'completed' && update.status !== 'failed') return
        const ok = update.status === 'completed'
        return push({ type: 'toolEnded', ...acpCall(whole), ok, release: () => {} })
      }
      default:
    }
  }

  const onQuestion = (id: number | string, toolCall: Update, options: readonly Option[]) => {
    const known = { ...calls.get(toolCall.toolCallId ?? ''), ...toolCall }
    const answer = ({ allow }: Verdict) => {
      const chosen = options.find(({ kind }) => kind === (allow ? 'allow_once' : 'reject_once'))
      const outcome = chosen ? { outcome: 'selected', optionId: chosen.optionId } : { outcome: 'cancelled' }
      write({ id, result: { outcome } })
    }
    push({ type: 'asked', permission: acpCall(known), answer })
  }

  return {
    read(raw: object) {
      const { id, method, params, ...answer } = raw as Message
      if (method === 'session/update') return onUpdate(params?.update ?? {})
      if (id === undefined) return
      if (method === 'session/request_permission')
        return onQuestion(id, params?.toolCall ?? {}, params?.options ?? [])
      if (method !== undefined) return write({ id, error: { code: -32_601, message: 'not offered' } })
      waiting.get(id)?.(answer)
    },
    async converse(
      { prompt, conversationId }: AgentInput,
      { workspace: cwd }: Pick<Cell, 'workspace'>,
    ): Promise<void> {
      try {
        const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false }
        await request('initialize', { protocolVersion: 1, clientCapabilities })
        const place = { cwd, mcpServers: [] }
        const opened =
          conversationId === undefined
            ? await request('session/new', place)
            : {
                sessionId: conversationId,
                ...(await request('session/load', { sessionId: conversationId, ...place })),
              }
        const sessionId = opened.sessionId ?? ''
        push({ type: 'started', conversationId: sessionId })
        const { stopReason } = await request('session/prompt', {
          sessionId,
          prompt: [{ type: 'text', text: prompt }],
        })
        const ok = stopReason === 'end_turn'
        end = { ok, reason: ok ? '' : `it stopped: ${stopReason}` }
      } catch (error) {
        end = { ok: false, reason: error instanceof Error ? error.message : String(error) }
      }
    },
    end: () => end,
  }
}

const kinds: Readonly<Record<string, ToolKind>> = {
  read: 'read',
  search: 'read',
  think: 'read',
  edit: 'edit',
  delete: 'edit',
  move: 'edit',
  execute: 'shell',
  fetch: 'fetch',
}

function acpCall({ toolCallId: id, title = '', kind = 'other', rawInput, locations = [] }: Update): ToolCall {
  const command = typeof rawInput?.command === 'string' ? rawInput.command : title
  const known = kinds[kind] ?? 'other'
  return {
    id,
    name: kind,
    kind: known,
    input: rawInput ?? { description: title },
    ...(known === 'shell' && { command }),
    ...(locations.length > 0 && { files: locations.map((location) => location.path) }),
  }
}
