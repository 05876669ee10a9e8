/**
 * Gemini CLI: its hooks ask before and wait after each tool call, but the calls of one turn overlap, and Gemini cannot
 * be made to run them one by one. So we take one step when the last of the overlapping calls has ended.
 */
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Agent } from '../core/ports/agent.ts'
import type { AgentEnd, AgentInput, ToolCall, ToolKind, Permission } from '../core/model/agent.ts'
import { AppError } from '../core/model/errors.ts'
import type { Cell } from '../core/ports/sandbox.ts'
import { openBridge } from './bridge.ts'
import { events, type Push } from './events.ts'
import { jsonLines } from './lines.ts'
import { lastWords } from './words.ts'

export const gemini: Agent = {
  name: 'gemini',
  title: 'Gemini CLI',
  program: 'gemini',
  install: 'npm install -g @google/gemini-cli',
  exact: false,
  asks: true,
  obeys: ['.gemini'],
  slash: ({ name, summary, prompt }) => ({
    folder: '.gemini/commands/offshoot',
    name: `${name}.toml`,
    content: `description = ${JSON.stringify(summary)}\nprompt = ${JSON.stringify(prompt)}\n`,
  }),
  run: (input, cell, cancel) =>
    events(cancel, async (push, signal) => {
      const said = lastWords()
      const talk = geminiTalk(push)
      const read = jsonLines(talk.read)
      const bridge = await openBridge(cell, (question) => talk.onHook(question as HookInput))
      try {
        const home = await makeHome(cell, bridge.command)
        const code = await cell.run(
          {
            argv: geminiArgs(input),
            env: {
              GEMINI_CLI_HOME: cell.inside(home),
              GEMINI_CLI_TRUST_WORKSPACE: 'true',
              // Keeps Gemini in one process, so that a signal reaches it.
              GEMINI_CLI_NO_RELAUNCH: 'true',
            },
            onOutput: (stream, text) => (stream === 'stdout' ? read.add(text) : said.add(text)),
            onStart: (stdin) => stdin.end(),
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

/** `yolo`, because our policy decides: Gemini would ask again at its own terminal. */
function geminiArgs({ prompt, conversationId }: AgentInput): string[] {
  const resume = conversationId === undefined ? [] : ['--resume', conversationId]
  return [
    'gemini',
    '--approval-mode',
    'yolo',
    '--output-format',
    'stream-json',
    ...resume,
    `--prompt=${prompt}`,
  ]
}

/**
 * Gemini takes hooks only from its settings. So it gets a home folder of its own, with links to the user's files
 * (login, conversations) and a copy of the user's settings to which our hooks are added.
 */
async function makeHome(cell: Cell, command: string): Promise<string> {
  const folder = await cell.makeRunFolder()
  const [theirs, own] = [path.join(cell.home, '.gemini'), path.join(folder, '.gemini')]
  await mkdir(path.join(theirs, 'tmp'), { recursive: true })
  await mkdir(own)
  for (const name of await readdir(theirs))
    if (name !== 'settings.json') await symlink(cell.inside(path.join(theirs, name)), path.join(own, name))
  const settings = await readSettings(path.join(theirs, 'settings.json'))
  const hooks = { ...settings.hooks }
  for (const [name, ours] of Object.entries(hooksOf(command))) hooks[name] = [...(hooks[name] ?? []), ...ours]
  await writeFile(path.join(own, 'settings.json'), JSON.stringify({ ...settings, hooks }))
  return folder
}

async function readSettings(file: string): Promise<{ hooks?: Record<string, unknown[]> }> {
  const text = await readFile(file, 'utf8').catch(() => '{}')
  try {
    return JSON.parse(text) as object
  } catch (cause) {
    throw new AppError('badSettings', `${file} is not plain JSON, so no hooks can be added to it.`, {
      path: file,
      cause,
    })
  }
}

const dayMs = 86_400_000

const hooksOf = (command: string) =>
  Object.fromEntries(
    ['BeforeTool', 'AfterTool'].map((name) => [
      name,
      [{ matcher: '*', hooks: [{ type: 'command', name: 'offshoot', command, timeout: dayMs }] }],
    ]),
  )

interface HookInput {
  readonly hook_event_name?: string
  readonly tool_name?: string
  readonly tool_input?: unknown
  readonly tool_response?: { readonly error?: unknown; readonly llmContent?: unknown }
}

interface Message {
  readonly type?: string
  readonly role?: string
  readonly content?: string
  readonly session_id?: string
  readonly status?: string
  readonly message?: string
  readonly error?: { readonly message?: string }
  readonly stats?: { readonly input_tokens?: number; readonly output_tokens?: number }
}

export function geminiTalk(push: Push) {
  let result: AgentEnd | undefined
  let running = 0
  let ended: { readonly call: ToolCall; readonly ok: boolean }[] = []

  const before = async (call: ToolCall): Promise<object> => {
    running++
    push({ type: 'toolStarted', ...call })
    const verdict = await new Promise<Permission>((answer) =>
      push({ type: 'asked', permission: call, answer }),
    )
    if (verdict.allow) return {}
    running--
    return { decision: 'deny', reason: verdict.reason }
  }

  const after = async (call: ToolCall, ok: boolean): Promise<object> => {
    running = Math.max(0, running - 1)
    ended.push({ call, ok })
    if (running === 0) await new Promise<void>((release) => finish(release))
    return {}
  }

  const finish = (release: () => void) => {
    push({ type: 'toolEnded', ...batchOf(ended), release })
    ended = []
  }

  return {
    onHook({ hook_event_name, tool_name = '', tool_input, tool_response }: HookInput): Promise<object> {
      const call = geminiCall(tool_name, tool_input)
      if (hook_event_name === 'BeforeTool') return before(call)
      const said = JSON.stringify(tool_response?.llmContent ?? '')
      return after(call, tool_response?.error === undefined && !/Exit Code: [1-9]/.test(said))
    },
    read(raw: object) {
      const message = raw as Message
      switch (message.type) {
        case 'init':
          return push({ type: 'started', conversationId: message.session_id ?? '' })
        case 'message':
          if (message.role === 'assistant') push({ type: 'message', text: message.content ?? '' })
          return
        case 'tool_result':
          // Results come after all calls of a turn have ended: a call that still counts as running will send no hook.
          if (running === 0) return
          running = 0
          ended.push({ call: { name: 'tool', kind: 'other', input: null }, ok: false })
          return finish(() => {})
        case 'error':
          result = { ok: false, reason: message.message ?? 'it failed' }
          return
        case 'result':
          result = endOf(message)
          return push({
            type: 'usage',
            inputTokens: message.stats?.input_tokens ?? 0,
            outputTokens: message.stats?.output_tokens ?? 0,
          })
        default:
      }
    },
    end: () => result,
  }
}

function endOf({ status, error }: Message): AgentEnd {
  if (status === 'success') return { ok: true, reason: '' }
  return { ok: false, reason: error?.message ?? 'it failed' }
}

/** Merges several calls into one, named after the calls that succeeded. */
function batchOf(
  ended: readonly { readonly call: ToolCall; readonly ok: boolean }[],
): ToolCall & { ok: boolean } {
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
