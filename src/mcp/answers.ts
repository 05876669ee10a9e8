/** The answers of tools: what `--json` prints, as a value and as text. */
import type { CallToolResult } from '@modelcontextprotocol/server'
import { AppError, appError } from '../core/model/errors.ts'

/** Clients close the connection at a message of 10 MB, and an answer is in it twice. */
export const longestAnswer = 2 * 1024 * 1024

export function success(answer: object): CallToolResult {
  const whole = { ok: true, ...answer }
  const text = asText(whole)
  if (text.length > longestAnswer) return failure(tooLong(text.length))
  return { content: [{ type: 'text', text }], structuredContent: whole }
}

export function failure(thrown: unknown): CallToolResult {
  const whole = { ok: false, error: appError(thrown).toJSON() }
  return { content: [{ type: 'text', text: asText(whole) }], structuredContent: whole, isError: true }
}

export function tooLong(length: number): AppError {
  const megabytes = (length / (1024 * 1024)).toFixed(1)
  return new AppError('failed', `The answer has ${megabytes} MB, which is more than a client takes.`, {
    hint: 'Ask for less: task_diff of a step, or with the format stat or names; offshoot on the command line prints all of it.',
  })
}

/** The JSON means the same; whoever shows it sees characters that would hide or turn text around. */
export function asText(answer: object): string {
  return JSON.stringify(answer).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) =>
    Array.from({ length: char.length }, (_, at) => `\\u${hex(char.charCodeAt(at))}`).join(''),
  )
}

const hex = (unit: number) => unit.toString(16).padStart(4, '0')
