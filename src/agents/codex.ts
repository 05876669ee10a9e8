/** Codex: its stream reports messages and exit codes, its hooks ask before and wait after each tool call. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Agent } from '../core/ports/agent.ts'
import { obeyedPaths } from '../core/model/agent-files.ts'
import type { AgentEnd, AgentInput, ToolCall, ToolKind, Permission } from '../core/model/agent.ts'
import { allowances } from './allowances.ts'
import { openBridge } from './bridge.ts'
import { events, type Push } from './events.ts'
import { jsonLines } from './lines.ts'
import { messages } from './messages.ts'
import { type Shaped, shaped } from './shape.ts'
import { openTranscript, type Transcript } from './codex-transcript.ts'
import { turns } from './turns.ts'
import { skill } from './skill.ts'
import { inWords, lastWords } from './words.ts'

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
  transcript_path: 'string',
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
  usage: { input_tokens: 'number', output_tokens: 'number', cached_input_tokens: 'number' },
} as const

type Item = NonNullable<Shaped<typeof messageShape>['item']>

/** A command that was answered before it ended, and of which the transcript does not say so, holds others no longer. */
const longestMs = 12_000

/** How often the transcript is read while one call waits for another. */
const lookMs = 25

/** A shell that was allowed, and of which no hook has told the end. */
interface Shell {
  readonly call: ToolCall & { readonly id: string }
  readonly done: () => void
  readonly transcript: Transcript
  /** The stream has told its end, and whether it went well. */
  over?: { readonly ok: boolean }
}

export function codexTalk(push: Push) {
  let result: AgentEnd | undefined
  let waiting = 0
  const failed: string[] = []
  const turn = turns(longestMs)
  const shells = new Map<string, Shell>()
  const background = new Map<string, ToolCall>()
  const allowed = allowances(push)

  /**
   * Shells of one turn would run at the same time, so they wait for each other; patches are quick, and only wait for
   * shells.
   */
  const before = async (call: ToolCall, transcript: Transcript): Promise<object> => {
    if (waiting++ === 0) void watchAnswers()
    const done = await (call.kind === 'shell' ? turn.acquire() : turn.pass()).finally(() => waiting--)
    push({ type: 'toolStarted', ...call })
    const verdict = await new Promise<Permission>((answer) =>
      push({ type: 'asked', permission: call, answer }),
    )
    if (verdict.allow) {
      const { id } = call
      if (done && id !== undefined) shells.set(id, { call: { ...call, id }, done, transcript })
      allowed.allow(anyTool)
      return {}
    }
    done?.()
    const decision = { permissionDecision: 'deny', permissionDecisionReason: verdict.reason }
    return { hookSpecificOutput: { hookEventName: 'PreToolUse', ...decision } }
  }

  /**
   * No hook tells that a command was answered before it ended. The transcript does, and nobody has to wait for the command
   * from then on.
   */
  const watchAnswers = async (): Promise<void> => {
    for (; waiting > 0; await pause(lookMs, undefined, { ref: false }))
      for (const shell of shells.values()) if (await shell.transcript.isAnswered(shell.call.id)) leave(shell)
  }

  /** The shell has been answered without a hook: either it goes on, or it has ended since. */
  const leave = ({ call, done, over }: Shell) => {
    if (!shells.delete(call.id)) return
    if (!over) background.set(call.id, call)
    push({ type: 'toolEnded', ...call, ok: over?.ok ?? true, goesOn: !over, release: done })
  }

  const after = async (call: ToolCall): Promise<object> => {
    const shell = shells.get(call.id ?? '')
    shells.delete(call.id ?? '')
    // The stream reports the exit code of a command before the hook is called.
    const at = failed.findIndex((line) => call.command !== undefined && line.includes(call.command))
    if (at !== -1) failed.splice(at, 1)
    await new Promise<void>((release) => push({ type: 'toolEnded', ...call, ok: at === -1, release }))
    shell?.done()
    return {}
  }

  /** The stream has no ids of calls: a command is known by its words. */
  const onCommand = (line: string, ok: boolean) => {
    const isOf = ({ command }: ToolCall) => command !== undefined && line.includes(command)
    const gone = [...background].find(([, call]) => isOf(call))
    if (gone) {
      background.delete(gone[0])
      return push({ type: 'backgroundEnded', id: gone[0] })
    }
    const shell = [...shells.values()].find(({ call, over }) => !over && isOf(call))
    if (shell) shell.over = { ok }
    if (!ok) failed.push(line)
  }

  const onItem = (item: Item) => {
    if (item.type === 'agent_message') return push({ type: 'message', text: item.text ?? '' })
    if (item.type === 'command_execution') onCommand(unquote(item.command ?? ''), item.exit_code === 0)
    if (hasRun(item)) allowed.ran(anyTool, { name: item.type ?? '', kind: 'other', input: null })
  }

  return {
    async onHook(question: unknown): Promise<object> {
      const hook = shaped(hookShape, question, 'hook')
      const call = codexCall(hook)
      if (hook.hook_event_name !== 'PreToolUse') return after(call)
      return before(call, await openTranscript(hook.transcript_path))
    },
    read: messages(messageShape, push, ({ type, item, ...message }) => {
      switch (type) {
        case 'thread.started':
          return push({ type: 'started', conversationId: message.thread_id ?? '' })
        case 'item.completed':
          return onItem(item ?? {})
        case 'turn.completed':
          result = { ok: true, reason: '' }
          // The model has had the answers to all its calls.
          for (const shell of shells.values()) leave(shell)
          return push({
            type: 'usage',
            inputTokens: message.usage?.input_tokens ?? 0,
            outputTokens: message.usage?.output_tokens ?? 0,
            cachedTokens: message.usage?.cached_input_tokens,
            // It counts the whole conversation, also one that is resumed.
            totals: ['inputTokens', 'outputTokens', 'cachedTokens'],
          })
        case 'turn.failed':
        case 'error':
          result = { ok: false, reason: inWords(message.error?.message ?? message.message ?? 'it failed') }
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
