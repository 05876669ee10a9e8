/** The two kinds of benchmark cases: timed against a yardstick, or one figure with a bar. */
import type { Side } from './measure.ts'
import type { BenchRepos } from './bench-repos.ts'

interface Sides {
  readonly ours: Side
  readonly raw: Side
  readonly close?: () => Promise<void>
}

/** Times one verb of ours against its yardstick. */
export interface TimedCase {
  readonly kind: 'timed'
  readonly name: string
  /** How many files the repository has. */
  readonly files: number
  /** How many times as long as the yardstick ours may take; without a bar it is only reported. */
  readonly bar?: number
  prepare(repos: BenchRepos): Promise<Sides>
}

/** Reports one figure with a bar of its own, such as a number of git processes. */
export interface CountedCase {
  readonly kind: 'counted'
  readonly name: string
  readonly files: number
  /** The unit of the figure: `git`, `ms`. */
  readonly unit: string
  /** How many there may be. */
  readonly bar: number
  count(repos: BenchRepos): Promise<number>
}

export type Case = TimedCase | CountedCase
