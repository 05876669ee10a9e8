/** A real client of the SDK's, as an editor has one, and `offshoot acp` as a process of its own. */
import { spawn } from 'node:child_process'
import path from 'node:path'
import { Readable, Writable } from 'node:stream'
import {
  client,
  type ClientConnection,
  type ContentBlock,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'
import type { TestRepo } from './repo.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

export interface TestEditor {
  readonly agent: ClientConnection['agent']
  /** The server. */
  readonly pid: number
  readonly initialized: unknown
  /** What the server wrote to stderr so far. */
  said(): string
  /** Every update so far, by session. */
  updates(sessionId: string): readonly SessionUpdate[]
  /** Every question so far. */
  readonly questions: readonly RequestPermissionRequest[]
  /** The text of the agent's messages. */
  text(sessionId: string): string
  /** Begins a session in the repository. */
  open(): Promise<string>
  prompt(sessionId: string, text: string): Promise<string>
  /** Leaves as an editor that is closed does, and answers the exit code of the server. */
  leave(): Promise<number | null>
}

/** What the person at the editor chooses: the id of an option, or `cancelled`; a promise of it, if they take their time. */
export type Choose = (asked: RequestPermissionRequest) => string | Promise<string>

/** Starts `offshoot acp` with these words in the repository. The caller leaves. */
export async function openEditor(
  repo: Pick<TestRepo, 'dir' | 'env'>,
  { words = [], choose = () => 'once' }: { words?: readonly string[]; choose?: Choose } = {},
): Promise<TestEditor> {
  const child = spawn(process.execPath, [bin, 'acp', ...words], {
    cwd: repo.dir,
    env: repo.env,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (chunk) => (stderr += String(chunk)))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const heard = new Map<string, SessionUpdate[]>()
  const questions: RequestPermissionRequest[] = []
  const connection = client({ name: 'test' })
    .onNotification(methods.client.session.update, ({ params: { sessionId, update } }) => {
      heard.set(sessionId, [...(heard.get(sessionId) ?? []), update])
    })
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      questions.push(params)
      const optionId = await choose(params)
      if (optionId === 'cancelled') return { outcome: { outcome: 'cancelled' } }
      return { outcome: { outcome: 'selected', optionId } }
    })
    .connect(
      ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>),
    )
  const { agent } = connection
  const initialized = await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: {},
  })
  const updates = (sessionId: string) => heard.get(sessionId) ?? []
  return {
    agent,
    pid: child.pid ?? 0,
    initialized,
    said: () => stderr,
    updates,
    questions,
    text: (sessionId) =>
      updates(sessionId)
        .map((one) =>
          one.sessionUpdate === 'agent_message_chunk' && one.content.type === 'text' ? one.content.text : '',
        )
        .join(''),
    async open() {
      return (await agent.request(methods.agent.session.new, { cwd: repo.dir, mcpServers: [] })).sessionId
    },
    async prompt(sessionId, text) {
      const prompt: ContentBlock[] = [{ type: 'text', text }]
      return (await agent.request(methods.agent.session.prompt, { sessionId, prompt })).stopReason
    },
    async leave() {
      child.stdin.end()
      return ended
    },
  }
}
