/**
 * Claude Code over its own pipe: hooks, permissions and prompts are messages on stdin and stdout, so that a tool call
 * starts no process, and the agent waits for each answer.
 */
import type { Agent } from '../core/ports/agent.ts'
import type { AgentEnd, AgentInput, ToolCall, ToolKind, Permission } from '../core/model/agent.ts'
import type { CommandStdin } from '../core/model/command.ts'
import { events, type Push } from './events.ts'
import { jsonLines } from './lines.ts'
import { skill } from './skill.ts'
import { lastWords } from './words.ts'

export const claude: Agent = {
  name: 'claude',
  title: 'Claude Code',
  program: 'claude',
  install: 'npm install -g @anthropic-ai/claude-code',
  exact: true,
  asks: true,
  obeys: ['.claude', '.mcp.json'],
  slash: (command) => skill('.claude/skills', command),
  run: (input, cell, cancel) =>
    events(cancel, async (push, signal) => {
      const said = lastWords()
      let talk: ReturnType<typeof claudeTalk> | undefined
      const read = jsonLines((message) => talk?.read(message))
      const code = await cell.run(
        {
          argv: claudeArgs(input),
          // With this variable set, Claude Code believes that it runs inside itself and refuses to start.
          env: { CLAUDECODE: '' },
          onOutput: (stream, text) => (stream === 'stdout' ? read.add(text) : said.add(text)),
          onStart: (stdin) => {
            talk = claudeTalk(push, stdin)
            talk.begin(input.prompt)
          },
        },
        signal,
      )
      read.end()
      push({ type: 'ended', ...(talk?.end() ?? said.failure('claude', code)) })
    }),
}

function claudeArgs({ conversationId }: AgentInput): string[] {
  const speak = 'claude --print --verbose --input-format stream-json --output-format stream-json'
  const ask = '--permission-mode default --permission-prompt-tool stdio'
  return [
    ...`${speak} ${ask}`.split(' '),
    ...(conversationId === undefined ? [] : ['--resume', conversationId]),
  ]
}

interface Message {
  readonly type?: string
  readonly subtype?: string
  readonly session_id?: string
  readonly request_id?: string
  readonly request?: Request
  readonly message?: { readonly content?: unknown }
  readonly is_error?: boolean
  readonly result?: string
  readonly errors?: readonly string[]
  readonly usage?: { readonly input_tokens?: number; readonly output_tokens?: number }
}

interface Request {
  readonly subtype?: string
  readonly tool_name?: string
  readonly tool_use_id?: string
  readonly input?: unknown
}

interface HookInput {
  readonly hook_event_name?: string
  readonly tool_name?: string
  readonly tool_input?: unknown
  readonly tool_use_id?: string
  readonly background_tasks?: readonly unknown[]
}

const hooks = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'Stop']

/** Both directions of the conversation: messages become events, and answers are written to stdin. */
export function claudeTalk(push: Push, stdin: CommandStdin) {
  let result: AgentEnd | undefined
  let inBackground = false
  const write = (message: object) => stdin.write(`${JSON.stringify(message)}\n`)
  const reply = (request_id: string, response: object) =>
    write({ type: 'control_response', response: { subtype: 'success', request_id, response } })

  const onHook = (id: string, hook: HookInput) => {
    const call = claudeCall(hook.tool_name ?? '', hook.tool_input, hook.tool_use_id)
    switch (hook.hook_event_name) {
      case 'PreToolUse':
        push({ type: 'toolStarted', ...call })
        return push({ type: 'asked', permission: call, answer: (verdict) => reply(id, permission(verdict)) })
      case 'PostToolUse':
      case 'PostToolUseFailure': {
        const ok = hook.hook_event_name === 'PostToolUse'
        return push({ type: 'toolEnded', ...call, ok, release: () => reply(id, {}) })
      }
      default:
        inBackground = (hook.background_tasks ?? []).length > 0
        return reply(id, {})
    }
  }

  const onRequest = (id: string, { subtype, ...request }: Request) => {
    if (subtype === 'hook_callback') return onHook(id, (request.input ?? {}) as HookInput)
    if (subtype !== 'can_use_tool') return reply(id, {})
    // The user's own rules can ask again after the hook has allowed the call.
    const permission = claudeCall(request.tool_name ?? '', request.input, request.tool_use_id)
    const answer = (verdict: Permission) =>
      reply(
        id,
        verdict.allow
          ? { behavior: 'allow', updatedInput: request.input }
          : { behavior: 'deny', message: verdict.reason },
      )
    push({ type: 'asked', permission, answer })
  }

  return {
    begin(prompt: string) {
      const asked = Object.fromEntries(hooks.map((name) => [name, [{ hookCallbackIds: [name] }]]))
      const request = { subtype: 'initialize', hooks: asked }
      write({ type: 'control_request', request_id: 'begin', request })
      write({
        type: 'user',
        message: { role: 'user', content: prompt },
        parent_tool_use_id: null,
        session_id: '',
      })
    },
    read(raw: object) {
      const message = raw as Message
      switch (message.type) {
        case 'system':
          if (message.subtype === 'init' && message.session_id !== undefined)
            push({ type: 'started', conversationId: message.session_id })
          return
        case 'assistant':
          for (const text of textsOf(message.message?.content)) push({ type: 'message', text })
          return
        case 'control_request':
          return onRequest(message.request_id ?? '', message.request ?? {})
        case 'result':
          result = endOf(message)
          push({
            type: 'usage',
            inputTokens: message.usage?.input_tokens ?? 0,
            outputTokens: message.usage?.output_tokens ?? 0,
          })
          // Another result follows when a subagent in the background has finished.
          if (!inBackground) stdin.end()
          return
        default:
      }
    },
    /** How the agent ended; undefined when it sent no result. */
    end: () => result,
  }
}

function permission(verdict: Permission): object {
  const decision = verdict.allow
    ? { permissionDecision: 'allow' }
    : { permissionDecision: 'deny', permissionDecisionReason: verdict.reason }
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', ...decision } }
}

/** An API error arrives as a success with `is_error`. */
function endOf({ is_error, subtype, result, errors }: Message): AgentEnd {
  if (is_error !== true && subtype === 'success') return { ok: true, reason: '' }
  return { ok: false, reason: result || errors?.join('; ') || subtype || 'it failed' }
}

function textsOf(content: unknown): string[] {
  if (!Array.isArray(content)) return []
  return content.flatMap((block: { type?: string; text?: string }) =>
    block.type === 'text' && block.text ? [block.text] : [],
  )
}

const kinds: Readonly<Record<string, ToolKind>> = {
  Bash: 'shell',
  Edit: 'edit',
  MultiEdit: 'edit',
  NotebookEdit: 'edit',
  Write: 'edit',
  ...Object.fromEntries(
    [
      'Read',
      'Glob',
      'Grep',
      'LS',
      'NotebookRead',
      'TodoWrite',
      'BashOutput',
      'ListAgents',
      'CronList',
      'ToolSearch',
      'ReportFindings',
    ].map((name) => [name, 'read']),
  ),
  WebFetch: 'fetch',
  WebSearch: 'fetch',
}

function claudeCall(name: string, input: unknown, id: string | undefined): ToolCall {
  const { file_path, notebook_path, command } = (input ?? {}) as Record<string, unknown>
  const file = [file_path, notebook_path].find((value) => typeof value === 'string')
  return {
    id,
    name,
    kind: kinds[name] ?? 'other',
    input,
    ...(typeof command === 'string' && { command }),
    ...(file !== undefined && { files: [file] }),
  }
}
