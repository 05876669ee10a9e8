/** Hints that a client of MCP gets, and what its user types then. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect } from 'vitest'
import { openDoor } from '../../src/api/call.ts'
import { compose } from '../../src/compose/full.ts'
import { openMcp } from '../../src/mcp/index.ts'
import { openClient } from '../support/mcp.ts'
import { tryHints } from '../support/hints/try-hints.ts'

tryHints(import.meta.filename, [
  {
    name: 'a client of offshoot mcp',
    async play(meet) {
      const user = meet()
      const { follow } = user
      await user.do('offshoot run --task T1 -- touch b.txt')
      const { client, call, close } = await openClient(user.user)
      try {
        const hintOf = async (tool: string, input: object) =>
          String((await call(tool, input)).error?.hint ?? 'it worked')
        const widened = await hintOf('task_accept', { task: 'T1' })
        await follow('api/caller.ts: Only the user can give it', widened, {
          by: async () => {
            const wide = await openClient(user.user, ['--scope', 'land'])
            expect(await wide.call('task_accept', { task: 'T1', dryRun: true })).toMatchObject({ ok: true })
            await wide.close()
          },
        })
        await follow('cli/commands/mcp.ts: offshoot mcp --scope', widened.replace(/, or do.*/, ''), {
          by: () => expect(widened).toContain('--scope land'),
        })
        await follow('mcp/instructions.ts: Landing work', client.getInstructions() ?? '', {
          fill: { TASK: 'T1' },
          shows: /Accepted T1/,
        })
        await user.do('offshoot undo')
        await follow('mcp/call-tool.ts: tools/list says', await hintOf('task_show', { task: 5 }), {
          by: async () => {
            const { tools } = await client.listTools()
            const { inputSchema } = tools.find(({ name }) => name === 'task_show') ?? {}
            expect(inputSchema?.properties).toHaveProperty('task')
          },
        })
        await user.do(`offshoot exec T1 -- sh -c "yes 0123456789abcdef | head -c 3000000 > big.txt"`)
        await follow('mcp/answers.ts: Ask for less', await hintOf('task_diff', { task: 'T1' }), {
          by: async () => {
            for (const less of [{ format: 'stat' }, { format: 'names' }, { step: '1' }])
              expect(await call('task_diff', { task: 'T1', ...less })).toMatchObject({ ok: true })
            expect((await user.do('offshoot diff T1')).stdout.length).toBeGreaterThan(3_000_000)
          },
        })
      } finally {
        await close()
      }
    },
  },
  {
    name: 'a client of a server that is in no folder',
    async play(meet) {
      const user = meet()
      const ports = compose({ env: user.user.env, lendsStreams: false })
      const caller = { kind: 'user' } as const
      const mcp = openMcp({ call: openDoor(ports, () => caller), caller, version: '1.0.0' })
      const client = new Client({ name: 'test', version: '1.0.0' })
      const fetch = (url: string | URL, init?: RequestInit) => mcp.fetch(new Request(url, init))
      await client.connect(new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), { fetch }))
      const list = async (repo: string) =>
        (await client.callTool({ name: 'task_list', arguments: { repo } })).structuredContent as {
          readonly ok: boolean
          readonly error?: { readonly hint: string }
        }
      await user.follow(
        'mcp/folder.ts: This server is in no folder',
        (await list('repo')).error?.hint ?? '',
        {
          by: async () => expect(await list(user.user.dir)).toMatchObject({ ok: true }),
        },
      )
      await client.close()
      await mcp.close()
      await ports.close()
    },
  },
])
