/**
 * Gemini CLI: its hooks ask before and wait after each tool call, but the calls of one turn overlap, and Gemini cannot
 * be made to run them one by one. So we take one step when the last of the overlapping calls has ended.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Agent } from '../core/ports/agent.ts'
import { obeyedPaths } from '../core/model/agent-files.ts'
import type { AgentEnd, AgentInput, ToolCall, ToolEnded, ToolKind, Permission } from '../core/model/agent.ts'
import { AppError } from '../core/model/errors.ts'
import type { Cell } from '../core/ports/sandbox.ts'
import { allowances } from './allowances.ts'
import { type Bridge, openBridge } from './bridge.ts'
import { events, type Push } from './events.ts'
import { jsonLines } from './lines.ts'
import { messages } from './messages.ts'
import { type Shaped, shaped } from './shape.ts'
import { inWords, lastWords } from './words.ts'

export const gemini: Agent = {
  name: 'gemini',
  title: 'Gemini CLI',
  program: 'gemini',
  install: 'npm install -g @google/gemini-cli',
  exact: false,
  asks: true,
  // Variables in `.env` steer it. Other programs have such a file too, so nothing else guards it as one of agents.
  obeys: [...obeyedPaths('gemini'), '.env'],
  slash: ({ name, summary, prompt }) => ({
    folder: '.gemini/commands/offshoot',
    name: `${name}.toml`,
    content: `description = ${JSON.stringify(summary)}\nprompt = ${JSON.stringify(prompt)}\n`,
  }),
  run: (input, cell, cancel) =>
    events(cancel, async (push, signal) => {
      const said = lastWords()
      const talk = geminiTalk(push)
      const read = jsonLines(talk.read, push)
      const bridge = await openBridge(cell, push, talk.onHook)
      try {
        const home = await makeHome(cell, bridge, input.projectSettings)
        const code = await cell.run(
          {
            argv: geminiArgs(input, cell.inside(path.join(home, policyName))),
            env: {
              GEMINI_CLI_HOME: cell.inside(home),
              GEMINI_CLI_TRUST_WORKSPACE: String(input.projectSettings),
              // Keeps Gemini in one process, so that a signal reaches it.
              GEMINI_CLI_NO_RELAUNCH: 'true',
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
        push({ type: 'ended', ...(talk.end() ?? said.failure('gemini', code)) })
      } finally {
        await bridge.close()
      }
    }),
}

/**
 * Our policy decides: Gemini would ask again at its own terminal. In a workspace that it does not trust it knows no `yolo`,
 * so a policy file allows all tools there. The prompt comes on stdin: everybody on this machine can read the arguments of a
 * program.
 */
function geminiArgs({ conversationId, projectSettings }: AgentInput, policy: string): string[] {
  const resume = conversationId === undefined ? [] : [`--resume=${conversationId}`]
  const allow = projectSettings ? ['--approval-mode', 'yolo'] : ['--policy', policy]
  return ['gemini', ...allow, '--output-format', 'stream-json', ...resume]
}

const policyName = 'allow.toml'

const allowAll = ['[[rule]]', 'toolName = "*"', 'decision = "allow"', 'priority = 999', ''].join('\n')

/**
 * Gemini gets a home folder of its own, with links to the user's files (login, conversations, extensions), a copy of the
 * user's settings, and an extension with our hooks: those of an extension run also in a workspace that is not trusted.
 */
async function makeHome(cell: Cell, bridge: Bridge, projectSettings: boolean): Promise<string> {
  const folder = await cell.makeRunFolder()
  const [theirs, own] = [path.join(cell.home, '.gemini'), path.join(folder, '.gemini')]
  await mkdir(path.join(theirs, 'tmp'), { recursive: true })
  await linkAll(cell, theirs, own, ['settings.json', 'extensions'])
  await linkAll(cell, path.join(theirs, 'extensions'), path.join(own, 'extensions'))
  await writeExtension(path.join(own, 'extensions'), bridge)
  const settings = await readSettings(path.join(theirs, 'settings.json'))
  await writeFile(path.join(own, 'settings.json'), JSON.stringify(pinned(settings, projectSettings)))
  await writeFile(path.join(folder, policyName), allowAll)
  return folder
}

/** Makes a folder of links to what is in the other one. */
async function linkAll(cell: Cell, from: string, to: string, except: readonly string[] = []): Promise<void> {
  await mkdir(to)
  const names = await readdir(from).catch(() => [])
  for (const name of names)
    if (!except.includes(name)) await symlink(cell.inside(path.join(from, name)), path.join(to, name))
}

type Settings = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>

/** Without trust Gemini would refuse to start; so we switch its question off, and tell it ourselves that there is none. */
function pinned(settings: Settings, projectSettings: boolean): Settings {
  const security = { ...settings.security, folderTrust: { enabled: false } }
  return {
    ...settings,
    hooksConfig: { ...settings.hooksConfig, enabled: true },
    ...(!projectSettings && { security }),
  }
}

async function readSettings(file: string): Promise<Settings> {
  const text = await readFile(file, 'utf8').catch(() => '{}')
  try {
    return JSON.parse(text) as Settings
  } catch (cause) {
    throw new AppError(
      'badSettings',
      `${file} is not plain JSON, so our hooks cannot be switched on in it.`,
      {
        path: file,
        cause,
      },
    )
  }
}

const dayMs = 86_400_000

/** A name that nobody knows before: settings at any level can switch hooks off by their names. */
async function writeExtension(folder: string, { command, env }: Bridge): Promise<void> {
  const name = `offshoot-${randomBytes(8).toString('hex')}`
  const hook = { type: 'command', name, command, env, timeout: dayMs }
  const asked = [{ matcher: '*', hooks: [hook] }]
  const [own, hooks] = [path.join(folder, name), { BeforeTool: asked, AfterTool: asked }]
  await mkdir(path.join(own, 'hooks'), { recursive: true })
  await writeFile(path.join(own, 'gemini-extension.json'), JSON.stringify({ name, version: '1.0.0' }))
  await writeFile(path.join(own, 'hooks', 'hooks.json'), JSON.stringify({ hooks }), { mode: 0o600 })
}

const hookShape = {
  hook_event_name: 'string',
  tool_name: 'string',
  tool_input: 'any',
  tool_response: { error: 'any', llmContent: 'any' },
} as const

const messageShape = {
  type: 'string',
  role: 'string',
  content: 'string',
  session_id: 'string',
  status: 'string',
  message: 'string',
  tool_id: 'string',
  tool_name: 'string',
  parameters: 'any',
  error: { type: 'string', message: 'string' },
  stats: { input_tokens: 'number', output_tokens: 'number', cached: 'number' },
} as const

type Message = Shaped<typeof messageShape>

export function geminiTalk(push: Push) {
  let result: AgentEnd | undefined
  const allowed = allowances(push)
  const used = new Map<string, ToolCall>()
  /** Calls that were allowed, and whose end no hook has told. */
  const running = new Set<ToolCall>()
  let ended: { readonly call: ToolCall; readonly ok: boolean }[] = []

  /** Hooks have no ids of calls: a call is known by its name and its input. */
  const isSame = (one: ToolCall, other: ToolCall) =>
    one.name === other.name && isDeepStrictEqual(one.input, other.input)

  const withId = (call: ToolCall): ToolCall => {
    const isFree = (id: string) => [...running, ...ended.map((one) => one.call)].every((one) => one.id !== id)
    const found = [...used].find(([id, one]) => isSame(one, call) && isFree(id))
    return found ? { ...call, id: found[0] } : call
  }

  const before = async (asked: ToolCall): Promise<object> => {
    const call = withId(asked)
    running.add(call)
    push({ type: 'toolStarted', ...call })
    const verdict = await new Promise<Permission>((answer) =>
      push({ type: 'asked', permission: call, answer }),
    )
    if (verdict.allow) {
      allowed.allow(call.name)
      return {}
    }
    running.delete(call)
    return { decision: 'deny', reason: verdict.reason }
  }

  const after = async (call: ToolCall, ok: boolean): Promise<object> => {
    const begun = [...running].find((one) => isSame(one, call))
    if (begun) running.delete(begun)
    ended.push({ call: begun ?? call, ok })
    if (running.size === 0) await new Promise<void>((release) => finish(release))
    return {}
  }

  const finish = (release: () => void) => {
    push({ type: 'toolEnded', ...batchOf(ended), release })
    ended = []
  }

  /** Results come after all calls of a turn have ended: a call that still counts as running will send no hook. */
  const onResult = ({ tool_id = '', status, error }: Message) => {
    const call = used.get(tool_id)
    used.delete(tool_id)
    if (call && status === 'success') allowed.ran(call.name, call)
    if (call && neverRun.has(error?.type ?? ''))
      return push({ type: 'toolEnded', ...call, id: tool_id, ok: false, neverRan: true, release: () => {} })
    if (running.size === 0) return
    for (const left of running) ended.push({ call: left, ok: false })
    running.clear()
    finish(() => {})
  }

  return {
    async onHook(question: unknown): Promise<object> {
      const hook = shaped(hookShape, question, 'hook')
      const { hook_event_name, tool_name = '', tool_input, tool_response } = hook
      const call = geminiCall(tool_name, tool_input)
      if (hook_event_name === 'BeforeTool') return before(call)
      const said = JSON.stringify(tool_response?.llmContent ?? '')
      return after(call, tool_response?.error === undefined && !/Exit Code: [1-9]/.test(said))
    },
    read: messages(messageShape, push, (message) => {
      switch (message.type) {
        case 'init':
          return push({ type: 'started', conversationId: message.session_id ?? '' })
        case 'message':
          // It prints its answer piece by piece, as the model gives it.
          if (message.role === 'assistant') push({ type: 'message', text: message.content ?? '', part: true })
          return
        case 'tool_use':
          used.set(message.tool_id ?? '', geminiCall(message.tool_name ?? '', message.parameters))
          return
        case 'tool_result':
          return onResult(message)
        case 'error':
          result = { ok: false, reason: inWords(message.message ?? 'it failed') }
          return
        case 'result':
          result = endOf(message)
          return push({
            type: 'usage',
            inputTokens: message.stats?.input_tokens ?? 0,
            outputTokens: message.stats?.output_tokens ?? 0,
            cachedTokens: message.stats?.cached,
          })
        default:
      }
    }),
    end: () => result,
  }
}

/** The errors of calls that Gemini refuses before it asks anybody. */
const neverRun: ReadonlySet<string> = new Set(['invalid_tool_params', 'tool_not_registered'])

function endOf({ status, error }: Message): AgentEnd {
  if (status === 'success') return { ok: true, reason: '' }
  return { ok: false, reason: inWords(error?.message ?? 'it failed') }
}

/** Merges several calls into one, named after the calls that succeeded. */
function batchOf(
  ended: readonly { readonly call: ToolCall; readonly ok: boolean }[],
): Pick<ToolEnded, 'ok' | 'batch'> & ToolCall {
  const good = ended.filter(({ ok }) => ok).map(({ call }) => call)
  const [only, ...others] = ended.map(({ call }) => call)
  if (only && others.length === 0) return { ...only, ok: good.length > 0 }
  const calls = good.length > 0 ? good : ended.map(({ call }) => call)
  const kinds = new Set(ended.map(({ call }) => call.kind))
  const kind = kinds.size === 1 ? (only?.kind ?? 'other') : 'other'
  return {
    name: [...new Set(calls.map(({ name }) => name))].join(' + '),
    kind: good.length === ended.length ? kind : 'other',
    input: calls.map(({ input }) => input),
    ok: good.length > 0,
    batch: ended
      .map(({ call, ok }) => ({ ...call, ok }))
      .sort((one, other) => Number(other.ok) - Number(one.ok)),
    ...(kind === 'edit' && { files: calls.flatMap(({ files = [] }) => files) }),
    ...(kind === 'shell' && { command: calls.map(({ command }) => command).join('; ') }),
  }
}

const kinds: Readonly<Record<string, ToolKind>> = {
  run_shell_command: 'shell',
  replace: 'edit',
  write_file: 'edit',
  web_fetch: 'fetch',
  google_web_search: 'fetch',
  ...Object.fromEntries(
    ['read_file', 'read_many_files', 'list_directory', 'glob', 'grep_search', 'search_file_content'].map(
      (name) => [name, 'read'],
    ),
  ),
}

function geminiCall(name: string, input: unknown): ToolCall {
  const { file_path, command } = (input ?? {}) as Record<string, unknown>
  return {
    name,
    kind: kinds[name] ?? 'other',
    input,
    ...(typeof command === 'string' && { command }),
    ...(typeof file_path === 'string' && { files: [file_path] }),
  }
}
