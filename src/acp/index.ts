/** The ACP door: an editor drives tasks over the Agent Client Protocol; a session is a task (docs/adr/0066-a-session-is-a-task.md). */
import { Readable, Writable } from 'node:stream'
import { agent, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk'
import { asRequestError } from './errors.ts'
import { type AcpOptions, openTalks } from './talks.ts'

/** Serves one client until it leaves or `signal` aborts; what was under way is then cancelled and has ended. */
export async function serveAcp(
  options: AcpOptions,
  input: Readable,
  output: Writable,
  signal?: AbortSignal,
): Promise<void> {
  const talks = openTalks(options)
  const connection = agent({ name: 'offshoot' })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'offshoot', title: 'offshoot', version: options.version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
      authMethods: [],
    }))
    .onRequest(methods.agent.session.new, (asked) => told(talks.create(asked.params.cwd, asked.signal)))
    .onRequest(methods.agent.session.load, ({ params, client }) => told(talks.load(params, client)))
    .onRequest(methods.agent.session.resume, ({ params }) => told(talks.resume(params)))
    .onRequest(methods.agent.session.list, ({ params }) => told(talks.list(params.cwd)))
    .onRequest(methods.agent.session.close, ({ params }) => told(talks.close(params.sessionId)))
    .onRequest(methods.agent.session.prompt, (asked) =>
      told(talks.prompt(asked.params, asked.client, asked.signal)),
    )
    .onNotification(methods.agent.session.cancel, ({ params }) => talks.cancel(params.sessionId))
    .connect(ndJsonStream(Writable.toWeb(output), Readable.toWeb(input) as ReadableStream<Uint8Array>))
  const leave = () => connection.close()
  signal?.addEventListener('abort', leave, { once: true })
  if (signal?.aborted) leave()
  await connection.closed
  await talks.end()
}

/** The answer, or the error as the protocol has it. */
async function told<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((thrown: unknown) => {
    throw asRequestError(thrown)
  })
}
