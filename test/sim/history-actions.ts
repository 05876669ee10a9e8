/** What can be asked of the user, the agent and offshoot in a history. Plain data: a history can be kept as JSON. */
import type { Strategy } from '../../src/core/strategies.ts'
import type { Plan } from '../support/faults.ts'

export type UserDeed =
  | 'edit'
  | 'create'
  | 'delete'
  | 'stage'
  | 'commit'
  | 'commit all'
  | 'amend'
  | 'branch'
  | 'switch'
  | 'rebase'
  | 'stash'
  | 'tag'
  | 'gc'
  | 'pack refs'
  | 'delete task branch'
  | 'prune worktrees'
  | 'leave a lock'
  | 'move'

export type AgentDeed = 'edit' | 'create' | 'delete' | 'commit' | 'shape' | 'corpus'

export type Verb =
  | 'start'
  | 'checkpoint'
  | 'rewind'
  | 'run'
  | 'accept'
  | 'update'
  | 'reject'
  | 'delete'
  | 'remove'
  | 'repair'
  | 'undo'
  | 'redo'
  | 'prune'
  | 'forget'

/** Which files, steps and operations are meant is a number, counted round among those that there are. */
export interface VerbOrder {
  readonly verb: Verb
  readonly task: string
  readonly which: number
  readonly isolation?: 'worktree' | 'clone' | 'branch'
  readonly from?: 'feature'
  readonly as?: Strategy
  readonly part?: 'only' | 'step' | 'hunks'
  readonly conflicts?: 'markers'
  readonly keep?: true
  readonly force?: true
  readonly keepBranch?: true
  readonly fault?: Plan
}

export type Order =
  | { readonly who: 'user'; readonly deed: UserDeed; readonly which: number }
  | { readonly who: 'agent'; readonly deed: AgentDeed; readonly task: string; readonly which: number }
  /** `rests`: nobody puts right what a fault left, until the next verb does. */
  | { readonly who: 'offshoot'; readonly order: VerbOrder; readonly rests?: true }
  /** Each in a process of its own, all at once. */
  | { readonly who: 'several'; readonly orders: readonly VerbOrder[] }

export function told(order: Order): string {
  switch (order.who) {
    case 'user':
      return `the user: ${order.deed} (${order.which})`
    case 'agent':
      return `the agent of ${order.task}: ${order.deed} (${order.which})`
    case 'offshoot':
      return verbTold(order.order) + (order.rests ? ', and nobody recovers' : '')
    case 'several':
      return `at once: ${order.orders.map(verbTold).join(' | ')}`
  }
}

function verbTold({ verb, task, which, fault, ...options }: VerbOrder): string {
  const flags = Object.entries(options).map(([name, value]) =>
    value === true ? `--${name}` : `--${name} ${value}`,
  )
  const struck = fault ? ` under ${faultTold(fault)}` : ''
  return `${[verb, task, ...flags].join(' ')} (${which})${struck}`
}

function faultTold({ kind, at, when, from, child }: Plan): string {
  return [kind, when, `effect ${at}`, from && 'and all later', child && `git ${child}`]
    .filter(Boolean)
    .join(' ')
}
