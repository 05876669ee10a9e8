/** What an agent's program says of its failures: its last output, and errors of the model's server. */
import type { AgentEnd } from '../core/model/agent.ts'

const maxLength = 4_000

/** Keeps the end of the output, as the reason for a program that ends without a result. */
export function lastWords() {
  let said = ''
  return {
    add: (text: string) => void (said = (said + text).slice(-maxLength)),
    failure(program: string, code: number): AgentEnd {
      const line = said.trimEnd().split('\n').at(-1)?.trim()
      const reason = line
        ? `${program} ended with exit code ${code}: ${line}`
        : `${program} ended with exit code ${code}`
      return { ok: false, reason }
    },
  }
}

/** An error of the model's server in words: some agents pass its JSON on as it came. */
export function inWords(said: string): string {
  const [from, to] = [said.indexOf('{'), said.lastIndexOf('}')]
  const message = from === -1 ? undefined : messageOf(parsed(said.slice(from, to + 1)))
  if (message === undefined) return said
  // `[API Error: {…}]`
  return `${said.slice(0, from).replace(/^\[+|\[+$/g, '')}${inWords(message)}`.trim()
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function messageOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { error, message } = value as { readonly error?: unknown; readonly message?: unknown }
  const said = messageOf(error) ?? message ?? error
  return typeof said === 'string' && said !== '' ? said : undefined
}
