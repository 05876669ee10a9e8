/** Codex: its stream reports messages and exit codes, its hooks ask before and wait after each tool call. */
import type { Agent } from '../core/ports/agent.ts'
import { obeyedPaths } from '../core/model/agent-files.ts'
import type { AgentEnd, AgentInput, ToolCall, ToolKind, Permission } from '../core/model/agent.ts'
import { allowances } from './allowances.ts'
import { openBridge } from './bridge.ts'
import { events, type Push } from './events.ts'
import { jsonLines } from './lines.ts'
import { messages } from './messages.ts'
import { type Shaped, shaped } from './shape.ts'
import { turns } from './turns.ts'
import { skill } from './skill.ts'
import { lastWords } from './words.ts'

export const codex: Agent = {
  name: 'codex',
  title: 'Codex',
  program: 'codex',
  install: 'npm install -g @openai/codex',
  exact: true,
  asks: true,
  obeys: obeyedPaths('codex'),
  slash: (command) => skill('.agents/skills', command),
  run: (input, cell, cancel) =>
    events(cancel, async (push, signal) => {
      const said = lastWords()
      const talk = codexTalk(push)
      const read = jsonLines(talk.read, push)
      const bridge = await openBridge(cell, push, talk.onHook)
      try {
        const code = await cell.run(
          {
            argv: codexArgs(input, cell.workspace, bridge.command),
            env: bridge.env,
            onOutput: (stream, text) => (stream === 'stdout' ? read.add(text) : said.add(text)),
            onStart(stdin) {
              stdin.write(input.prompt)
              stdin.end()
            },
          },
          signal,
        )
        read.end()
        push({ type: 'ended', ...(talk.end() ?? said.failure('codex', code)) })
      } finally {
        await bridge.close()
      }
    }),
}

/** The prompt comes on stdin (`-`): everybody on this machine can read the arguments of a program. */
function codexArgs(
  { conversationId, projectSettings }: AgentInput,
  workspace: string,
  hook: string,
): string[] {
  const asked = ['PreToolUse', 'PostToolUse'].map(
    (name) => `hooks.${name}=[{hooks=[{type="command",command=${JSON.stringify(hook)},timeout=86400}]}]`,
  )
  // Flags win over settings: those of a project could switch hooks off.
  const pinned = ['features.hooks=true', ...(projectSettings ? [] : [untrusted(workspace)])]
  return [
    ...'codex exec --json --sandbox workspace-write'.split(' '),
    // The user has not approved our hooks in Codex.
    '--dangerously-bypass-hook-trust',
    ...[...pinned, ...asked].flatMap((setting) => ['-c', setting]),
    ...(conversationId === undefined ? [] : ['resume', conversationId]),
    '-',
  ]
}

/** Codex reads no settings, hooks or rules of a project that is not trusted. */
const untrusted = (workspace: string) => `projects={${JSON.stringify(workspace)}={trust_level="untrusted"}}`

const hookShape = {
  hook_event_name: 'string',
  tool_name: 'string',
  tool_input: 'any',
  tool_use_id: 'string',
} as const

type HookInput = Shaped<typeof hookShape>

const messageShape = {
  type: 'string',
  thread_id: 'string',
  message: 'string',
  error: { message: 'string' },
  item: {
    type: 'string',
    text: 'string',
    command: 'string',
    exit_code: 'number',
    status: 'string',
  },
  usage: { input_tokens: 'number', output_tokens: 'number' },
} as const

type Item = NonNullable<Shaped<typeof messageShape>['item']>

/** After ten seconds Codex moves a command to the background, and its hook never comes. */
const longestMs = 12_000

export function codexTalk(push: Push) {
  let result: AgentEnd | undefined
  const failed: string[] = []
  const shells = turns(longestMs)
  const releases = new Map<string, () => void>()
  const allowed = allowances(push)

  /**
   * Shells of one turn would run at the same time, so they wait for each other; patches are quick, and only wait for
   * shells.
   */
  const before = async (call: ToolCall): Promise<object> => {
    const done = call.kind === 'shell' ? await shells.acquire() : await shells.pass()
    if (done && call.id !== undefined) releases.set(call.id, done)
    push({ type: 'toolStarted', ...call })
    const verdict = await new Promise<Permission>((answer) =>
      push({ type: 'asked', permission: call, answer }),
    )
    if (verdict.allow) {
      allowed.allow(anyTool)
      return {}
    }
    done?.()
    const decision = { permissionDecision: 'deny', permissionDecisionReason: verdict.reason }
    return { hookSpecificOutput: { hookEventName: 'PreToolUse', ...decision } }
  }

  const after = async (call: ToolCall): Promise<object> => {
    // The stream reports the exit code of a command before the hook is called.
    const at = failed.findIndex((line) => call.command !== undefined && line.includes(call.command))
    if (at !== -1) failed.splice(at, 1)
    await new Promise<void>((release) => push({ type: 'toolEnded', ...call, ok: at === -1, release }))
    releases.get(call.id ?? '')?.()
    return {}
  }

  const onItem = (item: Item) => {
    if (item.type === 'agent_message') return push({ type: 'message', text: item.text ?? '' })
    if (item.type === 'command_execution' && item.exit_code !== 0) failed.push(unquote(item.command ?? ''))
    if (hasRun(item)) allowed.ran(anyTool, { name: item.type ?? '', kind: 'other', input: null })
  }

  return {
    async onHook(question: unknown): Promise<object> {
      const hook = shaped(hookShape, question, 'hook')
      const call = codexCall(hook)
      return hook.hook_event_name === 'PreToolUse' ? before(call) : after(call)
    },
    read: messages(messageShape, push, ({ type, item, ...message }) => {
      switch (type) {
        case 'thread.started':
          return push({ type: 'started', conversationId: message.thread_id ?? '' })
        case 'item.completed':
          return onItem(item ?? {})
        case 'turn.completed':
          result = { ok: true, reason: '' }
          return push({
            type: 'usage',
            inputTokens: message.usage?.input_tokens ?? 0,
            outputTokens: message.usage?.output_tokens ?? 0,
          })
        case 'turn.failed':
        case 'error':
          result = { ok: false, reason: message.error?.message ?? message.message ?? 'it failed' }
          return
        default:
      }
    }),
    end: () => result,
  }
}

/** The stream has other ids than the hooks, and calls a patch that a shell applies a patch: all calls are counted as one. */
const anyTool = ''

/** The tools that pass hooks, by the stream's names. Others, such as a search in the web, ask nobody. */
const asking = new Set(['command_execution', 'file_change', 'mcp_tool_call'])

/** A patch that does not fit and a command that was declined have not run. */
function hasRun({ type = '', status, exit_code }: Item): boolean {
  return asking.has(type) && (status === 'completed' || exit_code !== undefined)
}

/** The stream shows the whole command line of the shell, with its quotes. */
const unquote = (line: string) => line.replaceAll(`'\\''`, `'`).replaceAll(/\\(["$\\`])/g, '$1')

const kinds: Readonly<Record<string, ToolKind>> = { Bash: 'shell', apply_patch: 'edit', view_image: 'read' }

function codexCall({ tool_name: name = '', tool_input, tool_use_id: id }: HookInput): ToolCall {
  const kind = kinds[name] ?? 'other'
  const { command } = (tool_input ?? {}) as Record<string, unknown>
  return {
    id,
    name,
    kind,
    input: tool_input,
    ...(kind === 'shell' && typeof command === 'string' && { command }),
    ...(kind === 'edit' && typeof command === 'string' && { files: patchedFiles(command) }),
  }
}

function patchedFiles(patch: string): string[] {
  const lines = patch.matchAll(/^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm)
  return Array.from(lines, ([, file = '']) => file.trim())
}
