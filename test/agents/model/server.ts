/** A model that says what a script tells it to, for agents that run without a network. On loopback only. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { anthropic } from './anthropic.ts'
import { chat } from './chat.ts'
import { gemini } from './gemini.ts'
import { responses } from './responses.ts'
import type { Answer, Body, ScriptedCall, Turn } from './turn.ts'

const dialects = [anthropic, chat, responses, gemini]

export interface Model {
  readonly url: string
  /** Every conversation that was asked to go on: its body as the agent sent it. */
  readonly asked: Body[]
}

/**
 * Which turn answers a request is read off the request: it is the number of answers in the conversation. So a retry
 * gets the same answer, agents can share a server, and a resumed conversation goes on where it stopped.
 */
export async function scriptedModel(turns: readonly Turn[]): Promise<Model> {
  const asked: Body[] = []
  const dropped = new Set<number>()
  const server = createServer(
    (request, response) => void respond(request, response).catch(() => response.destroy()),
  )

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = ''] = (request.url ?? '').split('?')
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const json = (status: number, value: object) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(value))
    }
    const dialect = dialects.find((one) => one.path.test(path))
    if (request.method !== 'POST' || !dialect) {
      if (/count_?tokens$/i.test(path)) return json(200, { input_tokens: 10, totalTokens: 10 })
      return json(404, { error: { type: 'not_found_error', message: `nothing at ${path}` } })
    }
    const body = JSON.parse(text) as Body
    const { hasTools, answersSoFar, model, stream, textTools } = dialect.read(body, request.url ?? '')
    if (hasTools) asked.push(body)
    const turn: Turn = hasTools ? (scriptOf(turns, body)[answersSoFar] ?? { text: 'Done.' }) : { text: 'ok' }
    if (turn.fail) {
      const { status, message } = turn.fail
      return json(status, { type: 'error', error: { type: 'invalid_request_error', message, code: status } })
    }
    const answer = dialect.answer(turn, model, textTools)
    if (!stream) return json(200, answer.whole)
    const drops = turn.drop === true && !dropped.has(answersSoFar)
    dropped.add(answersSoFar)
    send(response, answer, drops)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

/** The turns of the conversation: those of a subagent if it began with the prompt of one. */
function scriptOf(turns: readonly Turn[], { messages = [] }: Body): readonly Turn[] {
  const begin = JSON.stringify(messages[0] ?? '')
  const isOf = ({ input, subagent }: ScriptedCall) =>
    subagent !== undefined && begin.includes((input as { prompt: string }).prompt)
  return turns.flatMap(({ tools = [] }) => tools).find(isOf)?.subagent ?? turns
}

function send(response: ServerResponse, { events }: Answer, drops: boolean): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
  for (const [index, { name, data }] of events.entries()) {
    if (drops && index === 2) return void response.destroy()
    if (name !== undefined) response.write(`event: ${name}\n`)
    response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
  }
  response.end()
}
