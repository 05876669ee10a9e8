/** A real client of the SDK's, and `offshoot mcp` as a process of its own. */
import path from 'node:path'
import { Client, type ClientOptions, type Progress } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { TestRepo } from './repo.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

/** The two families of the protocol: until 2025 with a handshake, since 2026 without. */
export const eras = {
  legacy: {},
  modern: { versionNegotiation: { mode: { pin: '2026-07-28' } } },
} as const satisfies Record<string, ClientOptions>

export interface TestClient {
  readonly client: Client
  /** The server. */
  readonly pid: number
  /** What the server wrote to stderr so far. */
  said(): string
  /** The answer of a tool as JSON; its text says the same. */
  call(tool: string, input?: object, options?: CallOptions): Promise<ToolAnswer>
  close(): Promise<void>
}

interface CallOptions {
  readonly signal?: AbortSignal
  readonly onprogress?: (progress: Progress) => void
}

// oxlint-disable-next-line typescript/no-explicit-any -- whatever the server answered
type ToolAnswer = any

export interface McpSettings {
  readonly era?: keyof typeof eras
  readonly client?: ClientOptions
  /** Before it connects. */
  readonly prepare?: (client: Client) => void
  /** Where the server is started. */
  readonly cwd?: string
}

/** Starts `offshoot mcp` with these words in the repository. The caller closes it. */
export async function openClient(
  repo: Pick<TestRepo, 'dir' | 'env'>,
  words: readonly string[] = [],
  { era = 'legacy', client: more = {}, prepare, cwd = repo.dir }: McpSettings = {},
): Promise<TestClient> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { ...eras[era], ...more })
  prepare?.(client)
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, 'mcp', ...words],
    cwd,
    env: repo.env,
    stderr: 'pipe',
  })
  let stderr = ''
  transport.stderr?.on('data', (chunk) => (stderr += String(chunk)))
  await client.connect(transport)
  return {
    client,
    pid: transport.pid ?? 0,
    said: () => stderr,
    async call(name, input = {}, options) {
      const {
        structuredContent,
        content,
        isError = false,
      } = await client.callTool({ name, arguments: { ...input } }, { timeout: 110_000, ...options })
      const [block, ...others] = content as { type: string; text: string }[]
      if (block?.type !== 'text' || others.length > 0) throw new Error('An answer is one block of text.')
      const answer = structuredContent as { ok: boolean }
      if (JSON.stringify(JSON.parse(block.text)) !== JSON.stringify(answer))
        throw new Error('The text differs.')
      if (answer.ok === isError) throw new Error(`ok is ${answer.ok}, and isError ${isError}.`)
      return answer
    },
    close: () => client.close(),
  }
}
