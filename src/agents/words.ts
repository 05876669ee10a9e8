import type { AgentEnd } from '../core/model/agent.ts'

const kept = 4_000

/** What a program said last, for one that ends without telling how. */
export function lastWords() {
  let said = ''
  return {
    add: (text: string) => void (said = (said + text).slice(-kept)),
    failure(program: string, code: number): AgentEnd {
      const line = said.trimEnd().split('\n').at(-1)?.trim()
      const reason = line
        ? `${program} ended with exit code ${code}: ${line}`
        : `${program} ended with exit code ${code}`
      return { ok: false, reason }
    },
  }
}
