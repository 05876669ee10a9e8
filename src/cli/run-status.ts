/** How a run stands while it goes on: what its agent does, and what the run has taken so far. */
import { counted } from '../core/base/counted.ts'
import { plus, type Usage } from '../core/model/usage.ts'
import type { Told } from '../protocol/events.ts'
import { printable } from './output.ts'
import { costText, durationText, tokensText } from './spent.ts'

export interface RunStatus {
  take(told: Told): void
  /** The run has begun. */
  hasBegun(): boolean
  /** `Bash npm test`, or the agent while it uses no tool. */
  text(): string
  /** The run is over; the words say how. */
  close(words: string): void
  /** ` · 3 steps · 12 s · 1,234 tokens · $0.0123` */
  end(): string
}

export function runStatus(now: () => number = Date.now): RunStatus {
  let begun: number | undefined
  let agent = ''
  let doing = ''
  let steps = 0
  let used: Usage | undefined
  let ended: number | undefined
  return {
    take(told) {
      if (told.event === 'started') {
        agent = told.agent
        doing = ''
        // An onlooker who comes later sees the same time.
        begun = Date.parse(told.task.lastRun?.startedAt ?? '') || now()
      }
      if (told.event === 'queued') doing = 'waits for its turn'
      if (told.event === 'tool.started') doing = callText(told)
      if (told.event === 'waiting') doing = `asks: ${callText(told)}`
      if (told.event === 'tool.ended' || (told.event === 'decided' && !told.allow)) doing = ''
      if (told.event === 'checkpoint') steps++
      if (told.event === 'usage') used = plus(used, told)
    },
    close(words) {
      ended = now()
      doing = words
    },
    hasBegun: () => begun !== undefined,
    text: () => doing || agent,
    end() {
      const tokens = used ? tokensText(used) : ''
      const parts = [
        counted(steps, 'step'),
        ...(begun === undefined ? [] : [durationText(Math.max(0, (ended ?? now()) - begun) / 1000)]),
        ...(tokens === '' ? [] : [`${tokens} tokens`]),
        ...(used?.costUsd === undefined ? [] : [costText(used.costUsd)]),
      ]
      return parts.map((part) => ` · ${part}`).join('')
    },
  }
}

/** `Bash npm test`, on one line; `…` where there is more. */
export function callText({ tool, summary }: { readonly tool: string; readonly summary: string }): string {
  const [line = '', ...more] = `${tool} ${summary}`.trim().split('\n')
  return printable(more.length > 0 ? `${line} …` : line)
}
