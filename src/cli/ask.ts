/** Asks a question at the terminal. */
import { createInterface } from 'node:readline/promises'

/** The answer in lower case; undefined where stdin or stderr is no terminal, so that nobody could answer. */
export async function ask(question: string, signal: AbortSignal): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await terminal.question(question, { signal })).trim().toLowerCase()
  } finally {
    terminal.close()
  }
}
