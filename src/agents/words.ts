/** The last output of an agent's program. */
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
