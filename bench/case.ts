import type { Side } from './measure.ts'
import type { BenchRepos } from './bench-repos.ts'

interface Sides {
  readonly ours: Side
  readonly raw: Side
  readonly close?: () => Promise<void>
}

/** Something of ours against its yardstick. */
export interface TimedCase {
  readonly kind: 'timed'
  readonly name: string
  /** How many files the repository has. */
  readonly files: number
  /** How many times as long as the yardstick ours may take; left out, it is only told. */
  readonly bar?: number
  prepare(repos: BenchRepos): Promise<Sides>
}

/** Something that is counted, not timed. */
export interface CountedCase {
  readonly kind: 'counted'
  readonly name: string
  readonly files: number
  /** What is counted. */
  readonly unit: string
  /** How many there may be. */
  readonly bar: number
  count(repos: BenchRepos): Promise<number>
}

export type Case = TimedCase | CountedCase
