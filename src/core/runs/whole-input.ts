/** The whole input of a tool call: as a person is asked about it, as the log keeps it, and its hash. */
import { createHash } from 'node:crypto'
import type { ToolCall } from '../model/agent.ts'
import { shellText } from '../model/redact.ts'

/** What the log keeps of an input: its text, masked and perhaps cut, and the hash and the size of the whole. */
export interface KeptInput {
  readonly input: string
  readonly inputHash: string
  readonly inputBytes: number
}

/** The log keeps that many characters of an input; the hash tells whether a longer one was the same. */
const mostKept = 16 * 1024

export function keptInput(call: ToolCall): KeptInput {
  const value = sorted(wholeInput(call))
  const whole = JSON.stringify(value)
  // Masked before it is cut: half of a secret would not be recognized.
  const isLong = whole.length > 2 * mostKept
  const text = isLong ? shellText(whole.slice(0, 2 * mostKept)) : JSON.stringify(masked(value))
  return {
    input: text.slice(0, mostKept),
    // A hash, because the input may hold a secret.
    inputHash: hashOf(call.name, whole),
    inputBytes: Buffer.byteLength(whole),
  }
}

/** The hash of all that a tool would be given. */
export function inputHash(tool: string, input: unknown): string {
  return hashOf(tool, JSON.stringify(sorted(input)))
}

function hashOf(tool: string, whole: string): string {
  return createHash('sha256')
    .update(JSON.stringify([tool, whole]))
    .digest('hex')
}

/** The input as the agent sent it, with the command and the files that it does not have itself. */
export function wholeInput({ input, command, files }: ToolCall): unknown {
  const given = typeof input === 'object' && input !== null && !Array.isArray(input) ? input : { input }
  const said = JSON.stringify(given)
  const isMissing = (text: string) => !said.includes(JSON.stringify(text).slice(1, -1))
  return {
    ...(command !== undefined && isMissing(command) && { command }),
    ...(files?.some(isMissing) && { files }),
    ...given,
  }
}

/** Each text by itself, so that what is masked does not take the quote behind it along. */
function masked(value: unknown): unknown {
  if (typeof value === 'string') return shellText(value)
  if (Array.isArray(value)) return value.map(masked)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, masked(inner)]))
}

/** The same value with the keys of each record in order, so that the same input has the same hash. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]))
}
