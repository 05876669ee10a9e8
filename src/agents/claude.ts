/**
 * Claude Code over its own pipe: hooks, permissions and prompts are messages on stdin and stdout, so that a tool call
 * starts no process, and the agent waits for each answer.
 */
import type { Agent } from '../core/ports/agent.ts'
import { obeyedPaths } from '../core/model/agent-files.ts'
import type { AgentEnd, AgentInput, ToolCall, ToolKind, Permission } from '../core/model/agent.ts'
import type { CommandStdin } from '../core/model/command.ts'
import type { UsageTold } from '../core/model/usage.ts'
import { allowances } from './allowances.ts'
import { events, type Push } from './events.ts'
import { jsonLines } from './lines.ts'
import { messages } from './messages.ts'
import { planOf } from './plan.ts'
import { type Shaped, shaped } from './shape.ts'
import { skill } from './skill.ts'
import { inWords, lastWords } from './words.ts'

export const claude: Agent = {
  name: 'claude',
  title: 'Claude Code',
  program: 'claude',
  install: 'npm install -g @anthropic-ai/claude-code',
  exact: true,
  asks: true,
  obeys: obeyedPaths('claude'),
  slash: (command) => skill('.claude/skills', command),
  run: (input, cell, cancel) =>
    events(cancel, async (push, signal) => {
      const said = lastWords()
      let talk: ReturnType<typeof claudeTalk> | undefined
      const read = jsonLines((message) => talk?.read(message), push)
      const code = await cell.run(
        {
          argv: claudeArgs(input),
          // With this variable set, Claude Code believes that it runs inside itself and refuses to start.
          env: { CLAUDECODE: '' },
          onOutput: (stream, text) => (stream === 'stdout' ? read.add(text) : said.add(text)),
          onStart: (stdin) => {
            talk = claudeTalk(push, stdin, cell.workspace)
            talk.begin(input.prompt)
          },
        },
        signal,
      )
      read.end()
      push({ type: 'ended', ...(talk?.end() ?? said.failure('claude', code)) })
    }),
}

/**
 * Flags win over settings: those of a workspace could switch hooks off. Where they are not trusted, neither they nor the MCP
 * servers of the workspace are read.
 */
function claudeArgs({ conversationId, projectSettings }: AgentInput): string[] {
  const speak = 'claude --print --verbose --input-format stream-json --output-format stream-json'
  const ask = '--permission-mode default --permission-prompt-tool stdio'
  return [
    ...`${speak} ${ask}`.split(' '),
    '--settings',
    JSON.stringify({ disableAllHooks: false }),
    ...(projectSettings ? [] : ['--setting-sources', 'user']),
    ...(conversationId === undefined ? [] : [`--resume=${conversationId}`]),
  ]
}

const messageShape = {
  type: 'string',
  subtype: 'string',
  session_id: 'string',
  request_id: 'string',
  request: { subtype: 'string', tool_name: 'string', tool_use_id: 'string', input: 'any' },
  message: { content: 'any' },
  /** Of a message: it only says that the model's server gave an error. */
  error: 'any',
  parent_tool_use_id: 'string',
  is_error: 'boolean',
  result: 'string',
  errors: ['string'],
  usage: {
    input_tokens: 'number',
    output_tokens: 'number',
    cache_creation_input_tokens: 'number',
    cache_read_input_tokens: 'number',
  },
  total_cost_usd: 'number',
  tasks: [{ task_id: 'string' }],
} as const

type Message = Shaped<typeof messageShape>

const hookShape = {
  hook_event_name: 'string',
  tool_name: 'string',
  tool_input: 'any',
  tool_use_id: 'string',
  background_tasks: ['any'],
  tool_response: 'any',
} as const

const blockShape = {
  type: 'string',
  text: 'string',
  id: 'string',
  name: 'string',
  input: 'any',
  tool_use_id: 'string',
  is_error: 'boolean',
  content: 'any',
} as const

const hooks = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'Stop',
  // With these, Claude Code makes and removes no worktrees by itself.
  'WorktreeCreate',
  'WorktreeRemove',
]

/** Both directions of the conversation: messages become events, and answers are written to stdin. */
export function claudeTalk(push: Push, stdin: CommandStdin, workspace: string) {
  let result: AgentEnd | undefined
  let inBackground = false
  const allowed = allowances(push)
  const calls = new Map<string, ToolCall>()
  /** Calls whose commands go on, by the ids of their tasks. */
  const background = new Map<string, string>()
  let tasks: ReadonlySet<string> | undefined
  /** Calls of which hooks have told the begin, and those that need no more words. */
  const begun = new Set<string>()
  const settled = new Set<string>()
  const write = (message: object) => stdin.write(`${JSON.stringify(message)}\n`)
  const reply = (request_id: string, response: object) =>
    write({ type: 'control_response', response: { subtype: 'success', request_id, response } })

  /** Answers, and notes what may run. */
  const asked = (call: ToolCall, answer: (verdict: Permission) => void) =>
    push({
      type: 'asked',
      permission: call,
      answer(verdict) {
        if (verdict.allow) allowed.allow(call.id ?? '')
        else settled.add(call.id ?? '')
        answer(verdict)
      },
    })

  const onHook = (id: string, input: unknown) => {
    const hook = shaped(hookShape, input ?? {}, 'hook')
    const call = claudeCall(hook.tool_name ?? '', hook.tool_input, hook.tool_use_id)
    switch (hook.hook_event_name) {
      case 'PreToolUse':
        begun.add(call.id ?? '')
        push({ type: 'toolStarted', ...call })
        return asked(call, (verdict) => reply(id, permission(verdict, withoutIsolation(call))))
      case 'PostToolUse':
      case 'PostToolUseFailure': {
        settled.add(call.id ?? '')
        const ok = hook.hook_event_name === 'PostToolUse'
        const goesOn = ok && call.kind === 'shell' && isInBackground(call, hook.tool_response)
        const entries = ok && call.name === 'TodoWrite' ? planOf(call.input) : undefined
        if (entries) push({ type: 'plan', entries })
        return push({ type: 'toolEnded', ...call, ok, goesOn, release: () => reply(id, {}) })
      }
      case 'WorktreeCreate':
        // A worktree of its own would be in the user's checkout, and no step would hold it.
        return reply(id, { hookSpecificOutput: { hookEventName: 'WorktreeCreate', worktreePath: workspace } })
      case 'WorktreeRemove':
        return reply(id, {})
      default:
        inBackground = (hook.background_tasks ?? []).length > 0
        return reply(id, {})
    }
  }

  /** A command that has ended before its call was answered is no task any more. */
  const isInBackground = ({ id = '' }: ToolCall, response: unknown): boolean => {
    const task = (response as { backgroundTaskId?: unknown } | null | undefined)?.backgroundTaskId
    if (typeof task !== 'string' || (tasks && !tasks.has(task))) return false
    background.set(task, id)
    return true
  }

  /** All tasks that go on, which Claude Code lists when one begins or ends. */
  const onTasks = (listed: NonNullable<Message['tasks']>) => {
    tasks = new Set(listed.map(({ task_id = '' }) => task_id))
    for (const [task, id] of background) {
      if (tasks.has(task)) continue
      background.delete(task)
      push({ type: 'backgroundEnded', id })
    }
  }

  const onRequest = (id: string, { subtype, ...request }: NonNullable<Message['request']>) => {
    if (subtype === 'hook_callback') return onHook(id, request.input)
    if (subtype !== 'can_use_tool') return reply(id, {})
    // The user's own rules can ask again after the hook has allowed the call.
    const call = claudeCall(request.tool_name ?? '', request.input, request.tool_use_id)
    asked(call, (verdict) =>
      reply(
        id,
        verdict.allow
          ? { behavior: 'allow', updatedInput: request.input }
          : { behavior: 'deny', message: verdict.reason },
      ),
    )
  }

  /** The agent waits for an answer to each request, also to one that cannot be read. */
  const answerRequest = (id: string, request: Message['request']) => {
    try {
      onRequest(id, request ?? {})
    } catch (error) {
      reply(id, { behavior: 'deny', message: notUnderstood.reason, ...permission(notUnderstood) })
      throw error
    }
  }

  const onBlock = ({ type, ...block }: Shaped<typeof blockShape>) => {
    if (type === 'text' && block.text) push({ type: 'message', text: block.text })
    if (type === 'tool_use' && block.id !== undefined)
      calls.set(block.id, claudeCall(block.name ?? '', block.input, block.id))
    const call = type === 'tool_result' ? calls.get(block.tool_use_id ?? '') : undefined
    if (!call) return
    if (hasRun(call, block)) allowed.ran(call.id ?? '', call)
    else if (!settled.has(call.id ?? '')) onRefused(call)
  }

  /** Claude Code refuses an unknown tool, or an edit that does not fit, without a hook. */
  const onRefused = (call: ToolCall) => {
    const neverRan = !begun.has(call.id ?? '')
    push({ type: 'toolEnded', ...call, ok: false, neverRan, release: () => {} })
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
    read: messages(messageShape, push, (message) => {
      switch (message.type) {
        case 'system':
          if (message.subtype === 'init' && message.session_id !== undefined)
            push({ type: 'started', conversationId: message.session_id })
          if (message.subtype === 'background_tasks_changed') onTasks(message.tasks ?? [])
          return
        case 'assistant':
          // The result says it again, as the reason of the failure.
          if (message.error !== undefined && message.parent_tool_use_id === undefined) return
          return blocksOf(message.message?.content).forEach(onBlock)
        case 'user':
          return blocksOf(message.message?.content).forEach(onBlock)
        case 'control_request':
          return answerRequest(message.request_id ?? '', message.request)
        case 'result':
          result = endOf(message)
          push({ type: 'usage', ...usageOf(message) })
          // Another result follows when a subagent in the background has finished.
          if (!inBackground) stdin.end()
          return
        default:
      }
    }),
    /** How the agent ended; undefined when it sent no result. */
    end: () => result,
  }
}

function permission(verdict: Permission, updatedInput?: object): object {
  const decision = verdict.allow
    ? { permissionDecision: 'allow', ...(updatedInput && { updatedInput }) }
    : { permissionDecision: 'deny', permissionDecisionReason: verdict.reason }
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', ...decision } }
}

/** A subagent that wants a worktree works in the workspace, too. Agents whose definition asks for one pass the hook. */
function withoutIsolation({ input }: ToolCall): object | undefined {
  if (typeof input !== 'object' || input === null || !('isolation' in input)) return undefined
  const { isolation, ...rest } = input
  return isolation === 'worktree' ? rest : undefined
}

const refusals: Readonly<Record<string, string>> = {
  EnterWorktree: 'you are in a worktree of your own already; work here',
}

/** An API error arrives as a success with `is_error`. */
function endOf({ is_error, subtype, result, errors }: Message): AgentEnd {
  if (is_error !== true && subtype === 'success') return { ok: true, reason: '' }
  return { ok: false, reason: inWords(result || errors?.join('; ') || subtype || 'it failed') }
}

/** The tokens are those of this turn. The cost is that of the whole conversation, also of one that is resumed. */
function usageOf({ usage = {}, total_cost_usd }: Message): UsageTold {
  const {
    input_tokens = 0,
    cache_creation_input_tokens: written = 0,
    cache_read_input_tokens: read = 0,
  } = usage
  return {
    inputTokens: input_tokens + written + read,
    outputTokens: usage.output_tokens ?? 0,
    cachedTokens: read,
    costUsd: total_cost_usd,
    totals: ['costUsd'],
  }
}

const notUnderstood = { allow: false, reason: 'offshoot: the question was not understood' } as const

/** Words alone are no blocks. */
const blocksOf = (content: unknown) =>
  content === undefined || typeof content === 'string' ? [] : shaped([blockShape], content, 'content')

/** A call that was refused, or whose input is wrong, ends as an error, too. A command that fails has run nevertheless. */
function hasRun({ kind }: ToolCall, { is_error, content }: Shaped<typeof blockShape>): boolean {
  if (is_error !== true) return true
  return kind === 'shell' && typeof content === 'string' && content.startsWith('Exit code ')
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
    ...(Object.hasOwn(refusals, name) && { refusal: refusals[name] }),
    ...(typeof command === 'string' && { command }),
    ...(file !== undefined && { files: [file] }),
  }
}
