/** The MCP door: one factory behind stdio and HTTP, for clients of both eras of the protocol (docs/adr/0063-the-mcp-door.md). */
import { createMcpHandler, type McpRequestContext, Server } from '@modelcontextprotocol/server'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { Call } from '../api/call.ts'
import type { Caller } from '../api/caller.ts'
import { callTool, cancelledBy } from './call-tool.ts'
import { rootedFolder } from './folder.ts'
import { instructionsFor } from './instructions.ts'
import { listResources, readResource, resourceForms } from './resources.ts'
import { toolsFor } from './tools.ts'
import { openUnderWay } from './under-way.ts'

export interface McpOptions {
  /** The actions, opened for `caller`: this is what refuses, whatever is listed. */
  readonly call: Call
  readonly caller: Caller
  /** The folder that a request means which names no repository; without it each must name one. */
  readonly repo?: string | undefined
  /** A root that the client tells counts instead of `repo`. */
  readonly asksForRoot?: boolean | undefined
  readonly version: string
}

export interface Mcp {
  /** Serves the client at stdin and stdout until it leaves or `signal` aborts; what was under way is then cancelled and has ended. */
  serveStdio(signal?: AbortSignal): Promise<void>
  /**
   * Answers one request of Streamable HTTP; nothing is kept between two. It looks neither at Host nor at Origin nor at a token:
   * that is for the guard in front of it.
   */
  fetch(request: Request): Promise<Response>
  /** Cancels the requests that are under way, and resolves when they have ended. */
  close(): Promise<void>
}

/** How long a client may keep the list of tools, which changes only with the version. */
const keepMs = 60 * 60 * 1000

export function openMcp(options: McpOptions): Mcp {
  const underWay = openUnderWay(options.call)
  const factory = (request: McpRequestContext) => openServer({ ...options, call: underWay.call }, request)
  const http = createMcpHandler(factory)
  return {
    fetch: (request) => http.fetch(request),
    async serveStdio(signal) {
      const transport = new StdioServerTransport()
      const connection = serveStdio(factory, { transport })
      const { promise: left, resolve: leave } = Promise.withResolvers<void>()
      const { onclose } = transport
      transport.onclose = () => {
        onclose?.()
        leave()
      }
      signal?.addEventListener('abort', () => leave(), { once: true })
      if (signal?.aborted) leave()
      await left
      await underWay.cancel()
      await connection.close()
    },
    async close() {
      await underWay.cancel()
      await http.close()
    },
  }
}

function openServer(
  { call, caller, repo, asksForRoot, version }: McpOptions,
  { era, requestInfo }: McpRequestContext,
) {
  const kept = { ttlMs: keepMs, cacheScope: 'private' } as const
  const server = new Server(
    { name: 'offshoot', version },
    {
      capabilities: { tools: {}, resources: {} },
      instructions: instructionsFor(caller, repo),
      cacheHints: { 'tools/list': kept, 'resources/templates/list': kept },
    },
  )
  // Over HTTP there is no connection on which the client could be asked.
  const isAsked = asksForRoot && era === 'legacy' && requestInfo === undefined
  const folder = isAsked ? rootedFolder(server, repo) : async () => repo
  server.setRequestHandler('tools/list', () => ({ tools: toolsFor(caller, repo !== undefined) }))
  server.setRequestHandler('tools/call', ({ params }, context) => callTool(call, folder, params, context))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: resourceForms() }))
  server.setRequestHandler('resources/list', async (_, context) => ({
    resources: await listResources(call, caller, folder, cancelledBy(context)),
  }))
  server.setRequestHandler('resources/read', ({ params }, context) =>
    readResource(call, folder, params.uri, cancelledBy(context)),
  )
  return server
}
