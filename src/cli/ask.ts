/** Asks a question at the terminal. */
import { createInterface } from 'node:readline/promises'

/** The answer in lower case; undefined where stdin or stderr is no terminal, so that nobody could answer. */
export async function ask(question: string, signal: AbortSignal): Promise<string | undefined> {
  if (!canAsk()) return undefined
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await terminal.question(question, { signal })).trim().toLowerCase()
  } catch (thrown) {
    // The cursor stands behind the question.
    process.stderr.write('\n')
    throw thrown
  } finally {
    terminal.close()
  }
}

/** Whether a person could read a question and answer it. */
export const canAsk = () => process.stdin.isTTY && process.stderr.isTTY

/** Throws away what was typed before now, so that it answers no question that comes later. */
export async function forgetTyped(): Promise<void> {
  const drop = () => {}
  process.stdin.on('data', drop).resume()
  await new Promise((resolve) => setTimeout(resolve, settleMs))
  process.stdin.off('data', drop).pause()
}

const settleMs = 100
