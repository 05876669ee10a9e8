/** opencode: our plugin runs inside of it, asks before each tool call and waits after it; its stream has the rest. */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Agent } from '../core/ports/agent.ts'
import { obeyedPaths } from '../core/model/agent-files.ts'
import type { AgentEnd, AgentInput, ToolCall, ToolKind, Permission } from '../core/model/agent.ts'
import type { Usage } from '../core/model/usage.ts'
import { allowances } from './allowances.ts'
import { bridgeVariable, openBridge } from './bridge.ts'
import { events, type Push } from './events.ts'
import { jsonLines } from './lines.ts'
import { messages } from './messages.ts'
import { type Shaped, shaped } from './shape.ts'
import { turns } from './turns.ts'
import { page } from './skill.ts'
import { inWords, lastWords } from './words.ts'

export const opencode: Agent = {
  name: 'opencode',
  title: 'opencode',
  program: 'opencode',
  install: 'npm install -g opencode-ai',
  exact: true,
  asks: true,
  obeys: obeyedPaths('opencode'),
  slash: ({ name, summary, prompt }) => ({
    folder: '.opencode/command/offshoot',
    name: `${name}.md`,
    content: page([`description: ${summary}`], prompt),
  }),
  run: (input, cell, cancel) =>
    events(cancel, async (push, signal) => {
      const said = lastWords()
      const talk = opencodeTalk(push)
      const read = jsonLines(talk.read, push)
      const bridge = await openBridge(cell, push, talk.onHook)
      try {
        const plugin = path.join(await cell.makeRunFolder(), 'plugin.js')
        await writeFile(plugin, pluginFor(bridge.socket), { mode: 0o400 })
        const code = await cell.run(
          {
            argv: opencodeArgs(input),
            env: {
              ...bridge.env,
              OPENCODE_CONFIG_CONTENT: JSON.stringify({ plugin: [pathToFileURL(cell.inside(plugin)).href] }),
              // It would load no plugins.
              OPENCODE_PURE: 'false',
              ...(!input.projectSettings && { OPENCODE_DISABLE_PROJECT_CONFIG: 'true' }),
            },
            onOutput: (stream, text) => (stream === 'stdout' ? read.add(text) : said.add(text)),
            onStart(stdin) {
              stdin.write(input.prompt)
              stdin.end()
            },
          },
          signal,
        )
        read.end()
        const fine = { ok: true, reason: '' }
        push({ type: 'ended', ...(talk.failure() ?? (code === 0 ? fine : said.failure('opencode', code))) })
      } finally {
        await bridge.close()
      }
    }),
}

/**
 * `--auto`, because our policy decides: opencode would ask again at its own terminal. The prompt comes on stdin: everybody
 * on this machine can read the arguments of a program.
 */
function opencodeArgs({ conversationId }: AgentInput): string[] {
  const resume = conversationId === undefined ? [] : [`--session=${conversationId}`]
  return ['opencode', 'run', '--format', 'json', '--auto', ...resume]
}

/**
 * The plugin runs in Bun, which opencode ships; its fetch can use a unix socket. opencode reads it once, before the agent
 * does anything. A question that is not answered throws, which denies the call.
 */
const pluginFor = (socket: string) => `
const headers = { authorization: process.env.${bridgeVariable} }
const ask = async (question) => {
  const options = { unix: ${JSON.stringify(socket)}, method: 'POST', headers, timeout: false }
  return (await fetch('http://offshoot/', { ...options, body: JSON.stringify(question) })).json()
}
export const Offshoot = async () => ({
  'tool.execute.before': async ({ tool, callID }, { args }) => {
    const { denied } = await ask({ hook: 'before', tool, callID, args })
    if (denied) throw new Error(denied)
  },
  'tool.execute.after': async ({ tool, callID, args }, { metadata } = {}) => {
    await ask({ hook: 'after', tool, callID, args, exit: metadata?.exit })
  },
})
`

const hookShape = {
  hook: 'string',
  tool: 'string',
  callID: 'string',
  args: 'any',
  /** The exit code of a command. */
  exit: 'number',
} as const

const messageShape = {
  type: 'string',
  sessionID: 'string',
  error: { name: 'string', data: { message: 'string' } },
  part: {
    text: 'string',
    tool: 'string',
    callID: 'string',
    state: { status: 'string', input: 'any' },
    tokens: {
      input: 'number',
      output: 'number',
      reasoning: 'number',
      cache: { read: 'number', write: 'number' },
    },
    cost: 'number',
  },
} as const

type Message = Shaped<typeof messageShape>

const longestMs = 10 * 60_000

export function opencodeTalk(push: Push) {
  let failure: AgentEnd | undefined
  let conversation: string | undefined
  const writers = turns(longestMs)
  const releases = new Map<string, () => void>()
  const allowed = allowances(push)

  /** All calls of one turn would run at the same time, so calls that write wait for each other. */
  const before = async (call: ToolCall): Promise<object> => {
    if (mustWait(call)) releases.set(call.id ?? '', await writers.acquire())
    push({ type: 'toolStarted', ...call })
    const verdict = await new Promise<Permission>((answer) =>
      push({ type: 'asked', permission: call, answer }),
    )
    if (verdict.allow) {
      allowed.allow(call.id ?? '')
      return {}
    }
    releaseTurn(call.id)
    return { denied: verdict.reason }
  }

  const after = async (call: ToolCall, ok: boolean): Promise<object> => {
    await new Promise<void>((release) => push({ type: 'toolEnded', ...call, ok, release }))
    releaseTurn(call.id)
    return {}
  }

  const releaseTurn = (id = '') => {
    releases.get(id)?.()
    releases.delete(id)
  }

  const onPart = (type: string | undefined, { part = {} }: Message) => {
    switch (type) {
      case 'text':
        return push({ type: 'message', text: part.text ?? '' })
      case 'tool_use': {
        const call = opencodeCall(part.tool ?? '', part.state?.input, part.callID)
        if (part.state?.status === 'completed') return allowed.ran(call.id ?? '', call)
        // A failed tool calls no plugin hook. A denied call has already released its turn.
        if (part.state?.status !== 'error' || !releases.has(call.id ?? '')) return
        return push({ type: 'toolEnded', ...call, ok: false, release: () => releaseTurn(call.id) })
      }
      case 'step_finish':
        return push({ type: 'usage', ...usageOf(part) })
      default:
    }
  }

  return {
    async onHook(question: unknown): Promise<object> {
      const { hook, tool = '', callID, args, exit } = shaped(hookShape, question, 'hook')
      const call = opencodeCall(tool, args, callID)
      return hook === 'before' ? before(call) : after(call, (exit ?? 0) === 0)
    },
    read: messages(messageShape, push, (message) => {
      if (message.sessionID !== undefined && message.sessionID !== conversation) {
        conversation = message.sessionID
        push({ type: 'started', conversationId: conversation })
      }
      if (message.type !== 'error') return onPart(message.type, message)
      const reason = message.error?.data?.message ?? message.error?.name ?? 'it failed'
      failure = { ok: false, reason: inWords(reason) }
    }),
    /** The error that opencode reported. */
    failure: () => failure,
  }
}

/** Each step of its model. Of a model whose price it does not know, it says that it costs nothing. */
function usageOf({ tokens = {}, cost = 0 }: NonNullable<Message['part']>): Usage {
  const { input = 0, output = 0, reasoning = 0, cache: { read = 0, write = 0 } = {} } = tokens
  return {
    inputTokens: input + read + write,
    outputTokens: output + reasoning,
    cachedTokens: read,
    ...(cost > 0 && { costUsd: cost }),
  }
}

const kinds: Readonly<Record<string, ToolKind>> = {
  bash: 'shell',
  edit: 'edit',
  write: 'edit',
  webfetch: 'fetch',
  websearch: 'fetch',
  ...Object.fromEntries(
    ['read', 'glob', 'grep', 'list', 'invalid', 'todoread', 'todowrite', 'skill', 'lsp'].map((name) => [
      name,
      'read',
    ]),
  ),
}

/** A subagent is a tool that calls tools: if it held its turn, they would wait for ever. */
const mustWait = ({ kind, name }: ToolCall) => kind !== 'read' && kind !== 'fetch' && name !== 'task'

function opencodeCall(name: string, input: unknown, id: string | undefined): ToolCall {
  const { filePath, command } = (input ?? {}) as Record<string, unknown>
  return {
    id,
    name,
    kind: kinds[name] ?? 'other',
    input,
    ...(typeof command === 'string' && { command }),
    ...(typeof filePath === 'string' && { files: [filePath] }),
  }
}
