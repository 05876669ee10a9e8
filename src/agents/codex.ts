/** Codex: its stream reports messages and exit codes, its hooks ask before and wait after each tool call. */
import type { Agent } from '../core/ports/agent.ts'
import type { AgentEnd, AgentInput, ToolCall, ToolKind, Permission } from '../core/model/agent.ts'
import { openBridge } from './bridge.ts'
import { events, type Push } from './events.ts'
import { jsonLines } from './lines.ts'
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
  obeys: ['.codex'],
  slash: (command) => skill('.agents/skills', command),
  run: (input, cell, cancel) =>
    events(cancel, async (push, signal) => {
      const said = lastWords()
      const talk = codexTalk(push)
      const read = jsonLines(talk.read)
      const bridge = await openBridge(cell, (question) => talk.onHook(question as HookInput))
      try {
        const code = await cell.run(
          {
            argv: codexArgs(input, bridge.command),
            onOutput: (stream, text) => (stream === 'stdout' ? read.add(text) : said.add(text)),
            onStart: (stdin) => stdin.end(),
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

function codexArgs({ prompt, conversationId }: AgentInput, hook: string): string[] {
  const asked = ['PreToolUse', 'PostToolUse'].flatMap((name) => [
    '-c',
    `hooks.${name}=[{hooks=[{type="command",command=${JSON.stringify(hook)},timeout=86400}]}]`,
  ])
  return [
    ...'codex exec --json --sandbox workspace-write'.split(' '),
    // The user has not approved our hooks in Codex.
    '--dangerously-bypass-hook-trust',
    ...asked,
    ...(conversationId === undefined ? [] : ['resume', conversationId]),
    '--',
    prompt,
  ]
}

interface HookInput {
  readonly hook_event_name?: string
  readonly tool_name?: string
  readonly tool_input?: { readonly command?: string }
  readonly tool_use_id?: string
}

interface Message {
  readonly type?: string
  readonly thread_id?: string
  readonly message?: string
  readonly error?: { readonly message?: string }
  readonly item?: {
    readonly type?: string
    readonly text?: string
    readonly command?: string
    readonly exit_code?: number | null
  }
  readonly usage?: { readonly input_tokens?: number; readonly output_tokens?: number }
}

/** After ten seconds Codex moves a command to the background, and its hook never comes. */
const longestMs = 12_000

export function codexTalk(push: Push) {
  let result: AgentEnd | undefined
  const failed: string[] = []
  const shells = turns(longestMs)
  const releases = new Map<string, () => void>()

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
    if (verdict.allow) return {}
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

  return {
    onHook(hook: HookInput): Promise<object> {
      const call = codexCall(hook)
      return hook.hook_event_name === 'PreToolUse' ? before(call) : after(call)
    },
    read(raw: object) {
      const { type, item, ...message } = raw as Message
      switch (type) {
        case 'thread.started':
          return push({ type: 'started', conversationId: message.thread_id ?? '' })
        case 'item.completed':
          if (item?.type === 'agent_message') push({ type: 'message', text: item.text ?? '' })
          if (item?.type === 'command_execution' && item.exit_code !== 0)
            failed.push(unquote(item.command ?? ''))
          return
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
    },
    end: () => result,
  }
}

/** The stream shows the whole command line of the shell, with its quotes. */
const unquote = (line: string) => line.replaceAll(`'\\''`, `'`).replaceAll(/\\(["$\\`])/g, '$1')

const kinds: Readonly<Record<string, ToolKind>> = { Bash: 'shell', apply_patch: 'edit', view_image: 'read' }

function codexCall({ tool_name: name = '', tool_input, tool_use_id: id }: HookInput): ToolCall {
  const kind = kinds[name] ?? 'other'
  const { command } = tool_input ?? {}
  return {
    id,
    name,
    kind,
    input: tool_input,
    ...(kind === 'shell' && { command }),
    ...(kind === 'edit' && command !== undefined && { files: patchedFiles(command) }),
  }
}

function patchedFiles(patch: string): string[] {
  const lines = patch.matchAll(/^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm)
  return Array.from(lines, ([, file = '']) => file.trim())
}
