/** How long a tool call that changed one file holds the agent up, against a checkpoint through the library. */
import { once } from 'node:events'
import { appendFile, chmod, mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import path from 'node:path'
import { library } from '../built.ts'
import type { TimedCase } from '../case.ts'
import { newName } from '../folders.ts'
import { type BenchRepo, fileName } from '../repos.ts'

/** Speaks the protocol of Claude Code. Each byte on its socket ends one tool call; the answer comes when offshoot lets the agent go on. */
const agent = (node: string, socket: string) => `#!${node}
const waiting = new Map()
const print = (message) => process.stdout.write(JSON.stringify(message) + '\\n')
let n = 0
require('node:net')
  .createServer((peer) =>
    peer.on('data', (file) => {
      const request_id = String(++n)
      waiting.set(request_id, () => peer.write('.'))
      const input = {
        hook_event_name: 'PostToolUse',
        tool_name: 'Write',
        tool_use_id: request_id,
        tool_input: { file_path: String(file) },
      }
      print({ type: 'control_request', request_id, request: { subtype: 'hook_callback', input } })
    }),
  )
  .listen(${JSON.stringify(socket)}, () => print({ type: 'system', subtype: 'init', session_id: 'bench' }))
require('node:readline')
  .createInterface({ input: process.stdin })
  .on('line', (line) => waiting.get(JSON.parse(line).response?.request_id)?.())
`

export function toolCall(files: number, bar: number): TimedCase {
  return {
    kind: 'timed',
    name: 'tool call, hook in to released : bare checkpoint',
    files,
    bar,
    async prepare(repos) {
      const repo = await repos.repo(files)
      const changed = fileName(Math.floor(files / 2))
      const [held, bare] = [await heldAgent(repo), await bareTask(repo)]
      const edit = (folder: string) => appendFile(path.join(folder, changed), `${newName('edit')}\n`)
      return {
        ours: { before: () => edit(held.path), run: () => held.call(changed) },
        raw: { before: () => edit(bare.path), run: () => bare.step(changed) },
        close: async () => {
          await held.close()
          await bare.close()
        },
      }
    },
  }
}

async function opened(repo: BenchRepo, more: Record<string, string> = {}) {
  const { openRepo } = await library()
  const env = {
    ...repo.env,
    OFFSHOOT_CHECKPOINTS_PUBLISH: 'never',
    OFFSHOOT_LIMITS_PER_REPO: '1000',
    ...more,
  }
  const handle = openRepo(repo.dir, { env })
  const { task } = await handle.start({ task: newName('task') })
  return { handle, task }
}

async function bareTask(repo: BenchRepo) {
  const { handle, task } = await opened(repo)
  return {
    path: task.path,
    step: (file: string) => handle.checkpoint({ task: task.id, tool: 'Write', files: [file] }),
    close: () => handle.close(),
  }
}

async function heldAgent(repo: BenchRepo) {
  const folder = path.join(path.dirname(repo.dir), newName('agent'))
  const socket = path.join(folder, 's')
  await mkdir(folder)
  await writeFile(path.join(folder, 'claude'), agent(process.execPath, socket))
  await chmod(path.join(folder, 'claude'), 0o755)
  const { handle, task } = await opened(repo, { PATH: `${folder}:${repo.env.PATH}` })
  const cancel = new AbortController()
  const begun = Promise.withResolvers<void>()
  const running = handle.run(
    { task: task.id, create: true, agent: 'claude', prompt: '' },
    {
      signal: cancel.signal,
      onEvent: (told) => {
        if (told.event === 'conversation') begun.resolve()
      },
    },
  )
  const over = running.catch(() => {})
  await Promise.race([begun.promise, running])
  const peer = connect(socket)
  await once(peer, 'connect')
  return {
    path: task.path,
    async call(file: string) {
      const answered = once(peer, 'data')
      peer.write(file)
      await answered
    },
    async close() {
      peer.destroy()
      cancel.abort()
      await over
      await handle.close()
    },
  }
}
