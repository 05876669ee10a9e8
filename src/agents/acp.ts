/**
 * Any agent that speaks the Agent Client Protocol. It reports a tool call and does not wait for us, so a step may hold
 * several calls; and it asks for permission only when it wants to, so the policy applies only to those calls. The
 * protocol's own package does the talking; only such a run loads it.
 */
import type * as sdk from '@agentclientprotocol/sdk'
import type { Agent } from '../core/ports/agent.ts'
import type { AgentEnd, AgentInput, ToolCall, ToolKind, Permission } from '../core/model/agent.ts'
import { AppError } from '../core/model/errors.ts'
import type { Cell } from '../core/ports/sandbox.ts'
import type { CommandStdin } from '../core/model/command.ts'
import type { Usage } from '../core/model/usage.ts'
import { events, type Push } from './events.ts'
import { jsonLines } from './lines.ts'
import { stateOf } from './plan.ts'
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
        throw new AppError('wrongUsage', 'The command of the ACP agent is missing.', {
          hint: 'Give its command after two dashes: offshoot run --agent acp "…" -- gemini --acp',
        })
      }
      const protocol = await import('@agentclientprotocol/sdk')
      const said = lastWords()
      // Not every agent exits when its stdin is closed.
      const done = new AbortController()
      let talk: ReturnType<typeof acpTalk> | undefined
      const read = jsonLines((message) => talk?.read(message), push)
      const call = {
        argv,
        onOutput: (stream: 'stdout' | 'stderr', text: string) =>
          stream === 'stdout' ? read.add(text) : said.add(text),
        onStart: (stdin: CommandStdin) => {
          talk = acpTalk(protocol, push, stdin)
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
      talk?.close()
    }),
}

const leaveMs = 2_000

type Protocol = Pick<typeof sdk, 'client' | 'methods' | 'PROTOCOL_VERSION'>

export function acpTalk({ client, methods, PROTOCOL_VERSION }: Protocol, push: Push, stdin: CommandStdin) {
  let end: AgentEnd | undefined
  const calls = new Map<string, sdk.ToolCallUpdate>()

  const onUpdate = (update: sdk.SessionUpdate) => {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return update.content.type === 'text'
          ? push({ type: 'message', text: update.content.text, part: true })
          : undefined
      case 'tool_call':
      case 'tool_call_update': {
        const known = calls.get(update.toolCallId)
        const whole = mergeUpdate(known, update)
        calls.set(update.toolCallId, whole)
        if (!known) push({ type: 'toolStarted', ...acpCall(whole) })
        if (update.status !== 'completed' && update.status !== 'failed') return
        const ok = update.status === 'completed'
        return push({ type: 'toolEnded', ...acpCall(whole), ok, release: () => {} })
      }
      case 'plan':
        return push({
          type: 'plan',
          entries: update.entries.map(({ content, status }) => ({ text: content, state: stateOf(status) })),
        })
      case 'usage_update': {
        const { amount, currency } = update.cost ?? {}
        if (amount === undefined || currency !== 'USD') return
        return push({ type: 'usage', inputTokens: 0, outputTokens: 0, costUsd: amount, totals: ['costUsd'] })
      }
      default:
    }
  }

  const onQuestion = ({ toolCall, options }: sdk.RequestPermissionRequest) =>
    new Promise<sdk.RequestPermissionResponse>((resolve) => {
      const answer = ({ allow }: Permission) => {
        const chosen = options.find(({ kind }) => kind === (allow ? 'allow_once' : 'reject_once'))
        resolve({
          outcome: chosen ? { outcome: 'selected', optionId: chosen.optionId } : { outcome: 'cancelled' },
        })
      }
      push({
        type: 'asked',
        permission: acpCall(mergeUpdate(calls.get(toolCall.toolCallId), toolCall)),
        answer,
      })
    })

  let heard: ReadableStreamDefaultController<sdk.AnyMessage> | undefined
  const connection = client()
    // Registered before the requests, so that a question finds the call that it is about.
    .onNotification(methods.client.session.update, ({ params }) => onUpdate(params.update))
    .onRequest(methods.client.session.requestPermission, ({ params }) => onQuestion(params))
    .connect({
      readable: new ReadableStream<sdk.AnyMessage>({ start: (controller) => void (heard = controller) }),
      writable: new WritableStream<sdk.AnyMessage>({
        write: (message) => stdin.write(`${JSON.stringify(message)}\n`),
      }),
    })

  const openSession = async (conversationId: string | undefined, cwd: string): Promise<string> => {
    const place: sdk.NewSessionRequest = { cwd, mcpServers: [] }
    if (conversationId === undefined) {
      const { sessionId } = await connection.agent.request(methods.agent.session.new, place)
      return sessionId
    }
    await connection.agent.request(methods.agent.session.load, { sessionId: conversationId, ...place })
    return conversationId
  }

  return {
    read(message: object) {
      if (!connection.signal.aborted) heard?.enqueue(message as sdk.AnyMessage)
    },
    async converse(
      { prompt, conversationId }: AgentInput,
      { workspace }: Pick<Cell, 'workspace'>,
    ): Promise<void> {
      try {
        await connection.agent.request(methods.agent.initialize, {
          protocolVersion: PROTOCOL_VERSION,
          clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
        })
        const sessionId = await openSession(conversationId, workspace)
        push({ type: 'started', conversationId: sessionId })
        const { stopReason, _meta } = await connection.agent.request(methods.agent.session.prompt, {
          sessionId,
          prompt: [{ type: 'text', text: prompt }],
        })
        const used = findUsage(_meta)
        if (used) push({ type: 'usage', ...used })
        const ok = stopReason === 'end_turn'
        end = { ok, reason: ok ? '' : `it stopped: ${stopReason}` }
      } catch (error) {
        end = { ok: false, reason: error instanceof Error ? error.message : String(error) }
      }
    },
    end: () => end,
    close: () => connection.close(),
  }
}

/** The protocol has no place for the tokens of a prompt. Gemini CLI tells them in a field of its own. */
function findUsage(meta: unknown): Usage | undefined {
  const { quota } = (meta ?? {}) as {
    quota?: { token_count?: { input_tokens?: unknown; output_tokens?: unknown } }
  }
  const { input_tokens: inputTokens, output_tokens: outputTokens } = quota?.token_count ?? {}
  if (typeof inputTokens !== 'number' || typeof outputTokens !== 'number') return undefined
  return { inputTokens, outputTokens }
}

/** An update holds only the changed fields: a null or missing field keeps its value. */
function mergeUpdate(known: sdk.ToolCallUpdate | undefined, update: sdk.ToolCallUpdate): sdk.ToolCallUpdate {
  const said = Object.entries(update).filter(([, value]) => value !== undefined && value !== null)
  return { ...known, ...(Object.fromEntries(said) as unknown as sdk.ToolCallUpdate) }
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

/** A command that is no text has no title for it: the policy must not take one for the other. */
const commandOf = (command: unknown) => (typeof command === 'string' ? { command } : {})

function acpCall(call: sdk.ToolCallUpdate): ToolCall {
  const kind = call.kind ?? 'other'
  const title = call.title ?? ''
  const input = typeof call.rawInput === 'object' ? (call.rawInput as { command?: unknown } | null) : null
  const known = kinds[kind] ?? 'other'
  return {
    id: call.toolCallId,
    name: kind,
    kind: known,
    // The text of an edit is not always in the raw input.
    input: { ...(input ?? { description: title }), ...(call.content?.length && { content: call.content }) },
    ...(known === 'shell' && commandOf(input?.command ?? title)),
    ...(call.locations?.length && { files: call.locations.map((location) => location.path) }),
  }
}
