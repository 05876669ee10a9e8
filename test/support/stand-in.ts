/** An agent that does what its prompt says: a program that speaks as Claude Code does, and needs neither key nor network. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TestRepo } from './repo.ts'
import { withEnv } from './workspace.ts'

/** Its tools, in the order in which they are used; `say` is what it says before. */
export interface Act {
  readonly say?: string
  readonly sh?: string
  readonly write?: string
  /** It asks for any other tool, which then does nothing. */
  readonly use?: string
  readonly input?: unknown
  /** It gives up with this error. */
  readonly fail?: string
}

export const play = (...acts: Act[]) => JSON.stringify(acts)

const program = (node: string) => `#!${node}
const { spawn } = require('node:child_process')
const { writeFileSync } = require('node:fs')
const at = process.argv.indexOf('--resume')
const session_id = at === -1 ? require('node:crypto').randomUUID() : process.argv[at + 1]
const waiting = new Map()
const print = (message) => process.stdout.write(JSON.stringify({ session_id, ...message }) + '\\n')
const ask = (hook_event_name, tool_name, tool_input, tool_use_id) =>
  new Promise((resolve) => {
    const request_id = hook_event_name + tool_use_id
    waiting.set(request_id, resolve)
    const input = { hook_event_name, tool_name, tool_input, tool_use_id }
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
async function perform(acts) {
  print({ type: 'system', subtype: 'init' })
  let n = 0
  for (const act of acts) {
    if (act.say) print({ type: 'assistant', message: { content: [{ type: 'text', text: act.say }] } })
    if (act.sh || act.write || act.use) await use(act, 'call' + ++n)
    if (act.fail) return print({ type: 'result', subtype: 'success', is_error: true, result: act.fail })
  }
  print({ type: 'result', subtype: 'success', is_error: false, result: 'Done.', usage: { input_tokens: 1, output_tokens: 1 } })
}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line)
  if (message.type === 'control_response') waiting.get(message.response.request_id)?.(message.response.response)
  if (message.type === 'user') void perform(JSON.parse(message.message.content))
})
`

/** The same user, with that agent in PATH as \`claude\`. */
export function withStandIn(repo: TestRepo): TestRepo {
  const folder = path.join(repo.home, 'bin')
  const file = path.join(folder, 'claude')
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, program(process.execPath))
  chmodSync(file, 0o755)
  return withEnv(repo, { PATH: `${folder}${path.delimiter}${repo.env.PATH}` })
}
