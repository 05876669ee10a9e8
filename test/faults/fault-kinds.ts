/** The ways in which things go wrong, each with the effects it can hit. */
import type { FaultPlan } from '../support/faults.ts'
import type { Journey } from './journeys.ts'

export interface Kind {
  readonly name: string
  readonly plan: Omit<FaultPlan, 'at'>
  /** A process of its own is needed by whatever ends it. */
  readonly alone: boolean
}

const kill = (name: string, plan: Omit<FaultPlan, 'at' | 'kind'>): Kind => {
  return { name, plan: { kind: 'kill', ...plan }, alone: true }
}
const fail = (name: string, plan: Omit<FaultPlan, 'at'>): Kind => ({ name, plan, alone: false })

/** Git, or the command of a run. */
const inChild = { when: 'during', among: '^(git |command)' } as const
/** Those that only read may end when they like, also when nobody knows of them. */
const inWriter = {
  when: 'during',
  among: '^(command|git (hash-object|index-pack|pack-objects|read-tree|update-index|update-ref))',
} as const
const inUs = { when: 'during', among: '^(files|checkouts|contents|vault)' } as const

const essential: readonly Kind[] = [
  kill('kill before', { when: 'before' }),
  kill('kill during, git goes on', { ...inChild, child: 'survives' }),
  kill('kill during, git hangs', { ...inChild, child: 'frozen' }),
  fail('EIO', { kind: 'eio', when: 'before' }),
  fail('ENOSPC from then on', { kind: 'enospc', when: 'before', from: true }),
]

const further: readonly Kind[] = [
  kill('kill after', { when: 'after' }),
  kill('kill during', inUs),
  kill('kill during, git dies too', { ...inChild, child: 'dies' }),
  kill('kill before it is on record', { ...inWriter, child: 'unrecorded' }),
  { name: 'hang, then kill', plan: { kind: 'hang', when: 'before' }, alone: true },
  fail('git dies', { kind: 'git', ...inChild }),
  fail('EIO after the effect', { kind: 'eio', when: 'after' }),
  fail('EACCES', { kind: 'eacces', when: 'before' }),
  fail('ENOSPC', { kind: 'enospc', when: 'before' }),
  fail('cancel before', { kind: 'cancel', when: 'before' }),
  fail('cancel during', { kind: 'cancel', ...inChild }),
]

/** Failures that come once and go away. */
export const onceKinds: readonly Kind[] = [
  fail('ENOSPC once, then again', { kind: 'enospc', when: 'before' }),
  fail('EIO once after the effect, then again', { kind: 'eio', when: 'after' }),
]

export function kindsFor(journey: Journey): readonly Kind[] {
  return journey.main ? [...essential, ...further] : essential
}

/** Git calls that change the user's repository: the ones worth dying in. */
export const writingGit = [
  '^git hash-object',
  '^git update-index',
  '^git update-ref',
  '^git read-tree',
] as const
