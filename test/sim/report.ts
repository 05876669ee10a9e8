/** What many histories came to, in a few lines. */
import type { Tally } from './run-history.ts'
import type { Result } from './worker-pool.ts'

export class Report {
  readonly failed: Result[] = []
  #histories = 0
  readonly #sum = { actions: 0, verbs: 0, acknowledged: 0 }
  readonly #hit = new Map<string, number>()
  readonly #asked = new Map<string, number>()

  add(result: Result): void {
    this.#histories += 1
    if (result.anomalies.length > 0) this.failed.push(result)
    if (result.tally) this.#addTally(result.tally)
  }

  #addTally({ hit, asked, ...counts }: Tally): void {
    for (const key of ['actions', 'verbs', 'acknowledged'] as const) this.#sum[key] += counts[key]
    for (const [kind, count] of Object.entries(hit)) add(this.#hit, kind, count)
    for (const [verb, count] of Object.entries(asked)) add(this.#asked, verb, count)
  }

  lines(): string[] {
    const { actions, verbs, acknowledged } = this.#sum
    const faults = [...this.#hit.values()].reduce((sum, count) => sum + count, 0)
    return [
      `${this.#histories} histories, ${actions} actions, ${verbs} verbs (${acknowledged} acknowledged), ${faults} hit by a fault.`,
      `Verbs: ${listed(this.#asked)}.`,
      `Faults: ${listed(this.#hit)}.`,
      `${this.failed.length} anomalies.`,
    ]
  }
}

function add(counts: Map<string, number>, key: string, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count)
}

function listed(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort(([, a], [, b]) => b - a)
  return sorted.map(([name, count]) => `${name} ${count}`).join(', ') || 'none'
}

export function toldFailure({ name, log, anomalies }: Result): string {
  return [`${name}:`, ...log.map((line) => `  ${line}`), ...anomalies.map((line) => `  !! ${line}`)].join(
    '\n',
  )
}
