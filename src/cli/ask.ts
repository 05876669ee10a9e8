import { createInterface } from 'node:readline/promises'

/** What somebody at the terminal says; undefined when nobody is there. */
export async function ask(question: string, signal: AbortSignal): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await terminal.question(question, { signal })).trim().toLowerCase()
  } finally {
    terminal.close()
  }
}
