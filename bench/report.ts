/** Measures a case and prints its row. */
import { execFileSync } from 'node:child_process'
import os from 'node:os'
import type { Case } from './case.ts'
import { type Comparison, compare } from './measure.ts'
import type { BenchRepos } from './bench-repos.ts'

export interface Result {
  readonly name: string
  readonly files: number
  readonly bar: number | null
  /** Above its bar. */
  readonly over: boolean
  readonly comparison?: Comparison
  readonly counted?: { readonly count: number; readonly unit: string }
}

export async function measured(one: Case, repos: BenchRepos, rounds: number | undefined): Promise<Result> {
  const { name, files, bar } = one
  const known = { name, files, bar: bar ?? null }
  if (one.kind === 'counted') {
    const count = await one.count(repos)
    return { ...known, over: count > one.bar, counted: { count, unit: one.unit } }
  }
  const { ours, raw, close } = await one.prepare(repos)
  try {
    const comparison = await compare(ours, raw, rounds)
    return { ...known, over: bar !== undefined && comparison.ratio > bar, comparison }
  } finally {
    await close?.()
  }
}

const widths = [30, 8, 9, 9, 7, 7, 7, 7, 6]

export const header = row(['case', 'files', 'ours ms', 'raw ms', 'ratio', 'p20', 'bar', 'rounds', ''])

export function line({ name, files, bar, over, comparison, counted }: Result): string {
  const verdict = bar === null ? '' : over ? 'OVER' : 'ok'
  const limit = bar === null ? '-' : counted ? `${bar} ${counted.unit}` : bar.toFixed(2)
  const size = files.toLocaleString('en')
  if (counted)
    return row([name, size, `${counted.count} ${counted.unit}`, '-', '-', '-', limit, '1', verdict])
  if (!comparison) return row([name, size])
  const { ours, raw, ratio, ratioP20 } = comparison
  const numbers = [ours.median.toFixed(1), raw.median.toFixed(1), ratio.toFixed(2), ratioP20.toFixed(2)]
  return row([name, size, ...numbers, limit, String(ours.times.length), verdict])
}

function row(cells: readonly string[]): string {
  const padded = cells.map((cell, column) => {
    const width = widths[column] ?? 0
    return column === 0 ? cell.padEnd(width) : cell.padStart(width)
  })
  return padded.join('').trimEnd()
}

export function machine(): string {
  const git = execFileSync('git', ['--version'], { encoding: 'utf8' }).trim()
  return `${os.availableParallelism()} cores, ${os.platform()} ${os.arch()}, node ${process.version}, ${git}`
}
