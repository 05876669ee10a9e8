/** An agent that does what its prompt says: a program that speaks as Claude Code does, and needs neither key nor network. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** Its tools, in the order in which they are used; `say` is what it says before. */
export interface Act {
  readonly say?: string
  /** How often it says so. */
  readonly times?: number
  readonly sh?: string
  /** A command that it answers at once, and that goes on. */
  readonly background?: string
  readonly write?: string
  /** It asks for any other tool, which then does nothing. */
  readonly use?: string
  readonly input?: unknown
  /** A command that it runs without asking anybody. */
  readonly sneak?: string
  /** A line that it prints as it is. */
  readonly print?: string
  /** A line of that many characters. */
  readonly long?: number
  /** It gives up with this error. */
  readonly fail?: string
  /** Fields of its result, such as what it has used. */
  readonly result?: object
}

export const play = (...acts: Act[]) => JSON.stringify(acts)

const program = (node: string) => `#!${node}
const { spawn } = require('node:child_process')
const { writeFileSync } = require('node:fs')
const going = process.argv.find((word) => word.startsWith('--resume='))
const session_id = going?.slice('--resume='.length) ?? process.env.STAND_IN_SESSION ?? require('node:crypto').randomUUID()
const waiting = new Map()
const print = (message) => process.stdout.write(JSON.stringify({ session_id, ...message }) + '\\n')
const ask = (hook_event_name, tool_name, tool_input, tool_use_id, tool_response) =>
  new Promise((resolve) => {
    const request_id = hook_event_name + tool_use_id
    waiting.set(request_id, resolve)
    const input = { hook_event_name, tool_name, tool_input, tool_use_id, tool_response }
    print({ type: 'control_request', request_id, request: { subtype: 'hook_callback', input } })
  })
const shell = (command) =>
  new Promise((resolve) => spawn('/bin/sh', ['-c', command], { stdio: 'ignore' }).on('exit', (code) => resolve(code === 0)))
async function use(act, id) {
  const [name, input] = act.use ? [act.use, act.input] : act.sh ? ['Bash', { command: act.sh }] : ['Write', { file_path: act.write, content: act.write }]
  const answer = await ask('PreToolUse', name, input, id)
  if (answer.hookSpecificOutput.permissionDecision === 'deny') return
  if (act.write) writeFileSync(act.write, act.write)
  const ok = act.sh ? await shell(act.sh) : true
  await ask(ok ? 'PostToolUse' : 'PostToolUseFailure', name, input, id)
}
async function goOn(command, id) {
  const input = { command, run_in_background: true }
  const answer = await ask('PreToolUse', 'Bash', input, id)
  if (answer.hookSpecificOutput.permissionDecision === 'deny') return
  const tasks = (...ids) => print({ type: 'system', subtype: 'background_tasks_changed', tasks: ids.map((task_id) => ({ task_id })) })
  tasks(id)
  const child = spawn('/bin/sh', ['-c', command], { stdio: 'ignore' }).on('exit', () => tasks())
  child.unref()
  await ask('PostToolUse', 'Bash', input, id, { backgroundTaskId: id })
}
async function sneak(command, id) {
  print({ type: 'assistant', message: { content: [{ type: 'tool_use', id, name: 'Bash', input: { command } }] } })
  await shell(command)
  print({ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: id, content: '' }] } })
  await new Promise((resolve) => setTimeout(resolve, 5_000))
}
async function perform(acts) {
  print({ type: 'system', subtype: 'init' })
  let n = 0
  for (const act of acts) {
    for (let left = act.say ? (act.times ?? 1) : 0; left > 0; left--)
      print({ type: 'assistant', message: { content: [{ type: 'text', text: act.say }] } })
    if (act.sh || act.write || act.use) await use(act, 'call' + ++n)
    if (act.background) await goOn(act.background, 'call' + ++n)
    if (act.sneak) await sneak(act.sneak, 'call' + ++n)
    if (act.print) process.stdout.write(act.print + '\\n')
    if (act.long) process.stdout.write('x'.repeat(act.long) + '\\n')
    if (act.fail) print({ type: 'assistant', error: 'unknown', message: { content: [{ type: 'text', text: act.fail }] } })
    if (act.fail) return print({ type: 'result', subtype: 'success', is_error: true, result: act.fail })
  }
  const told = Object.assign({ usage: { input_tokens: 1, output_tokens: 1 } }, ...acts.map(({ result }) => result ?? {}))
  print({ type: 'result', subtype: 'success', is_error: false, result: 'Done.', ...told })
}
// A prompt of plain words has nothing to do.
const actsOf = (prompt) => (prompt.startsWith('[') ? JSON.parse(prompt) : [])
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line)
  if (message.type === 'control_response') waiting.get(message.response.request_id)?.(message.response.response)
  if (message.type === 'user') void perform(actsOf(message.message.content))
})
`

/**
 * The same for an agent whose hooks are programs, and which speaks as Codex does. As Gemini does, it takes 2 for a denial and
 * goes on after any other exit code. Beside the answer of the hook it says how each hook ended.
 */
const codexProgram = (node: string) => `#!${node}
const { spawnSync } = require('node:child_process')
const print = (message) => process.stdout.write(JSON.stringify(message) + '\\n')
const item = (item) => print({ type: 'item.completed', item })
const commandOf = (name) => {
  const word = process.argv.find((word) => word.startsWith('hooks.' + name + '='))
  return JSON.parse(/command=("(?:[^"\\\\]|\\\\.)*")/.exec(word)[1])
}
const hook = (hook_event_name, call) => {
  const input = JSON.stringify({ hook_event_name, ...call })
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', commandOf(hook_event_name)], { input, encoding: 'utf8' })
  item({ type: 'agent_message', text: hook_event_name + ' ' + status + ' ' + stderr.trim() })
  return status !== 2 && !stdout.includes('"deny"')
}
const run = (command) => {
  const { status: exit_code } = spawnSync('/bin/sh', ['-c', command], { stdio: 'ignore' })
  item({ type: 'command_execution', command, exit_code, status: 'completed' })
}
function use(command, tool_use_id) {
  const call = { tool_name: 'Bash', tool_input: { command }, tool_use_id }
  if (!hook('PreToolUse', call)) return
  run(command)
  hook('PostToolUse', call)
}
const acts = JSON.parse(require('node:fs').readFileSync(0, 'utf8') || process.argv.at(-1))
print({ type: 'thread.started', thread_id: require('node:crypto').randomUUID() })
let n = 0
for (const act of acts) {
  if (act.sh) use(act.sh, 'call' + ++n)
  if (act.sneak) run(act.sneak)
  if (act.print) process.stdout.write(act.print + '\\n')
}
const told = Object.assign({ usage: { input_tokens: 1, output_tokens: 1 } }, ...acts.map(({ result }) => result ?? {}))
print({ type: 'turn.completed', ...told })
`

export type StandInName = keyof typeof programs

const programs = { claude: program, codex: codexProgram }

/** Puts that agent into the folder, as a program of that name. */
export function putStandIn(folder: string, name: StandInName = 'claude'): void {
  const file = path.join(folder, name)
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, programs[name](process.execPath))
  chmodSync(file, 0o755)
}
