import { readFileSync } from 'node:fs'
import type { AgentEvent } from '../../src/core/model/agent.ts'

/** What a real agent said, line by line. */
export function sample(name: string): object[] {
  return readFileSync(new URL(`../samples/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
}

/** Takes events, allows everything, and waits for nothing. */
export function agreeable() {
  const events: AgentEvent[] = []
  const push = (event: AgentEvent) => {
    events.push(event)
    if (event.type === 'asked') event.answer({ allow: true })
    if (event.type === 'toolEnded') event.release()
  }
  /** `[name, kind, what it is about]` of each tool that ended. */
  const ended = () =>
    events.flatMap((event) =>
      event.type === 'toolEnded'
        ? [[event.name, event.kind, event.ok, ...(event.files ?? [event.command])]]
        : [],
    )
  const said = () => events.flatMap((event) => (event.type === 'message' ? [event.text] : []))
  return { events, push, ended, said }
}
