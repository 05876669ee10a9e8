/** What the user, the agent and offshoot do in a history. Plain data: a history can be kept as JSON. */
import type { Strategy } from '../../src/core/model/strategies.ts'
import type { FaultPlan } from '../support/faults.ts'

export type UserAction =
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

export type AgentAction = 'edit' | 'create' | 'delete' | 'commit' | 'shape' | 'corpus'

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
export interface VerbRequest {
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
  readonly fault?: FaultPlan
}

export type HistoryAction =
  | { readonly who: 'user'; readonly does: UserAction; readonly which: number }
  | { readonly who: 'agent'; readonly does: AgentAction; readonly task: string; readonly which: number }
  /** `rests`: nobody puts right what a fault left, until the next verb does. */
  | { readonly who: 'offshoot'; readonly request: VerbRequest; readonly rests?: true }
  /** Each in a process of its own, all at once. */
  | { readonly who: 'several'; readonly requests: readonly VerbRequest[] }

export function told(action: HistoryAction): string {
  switch (action.who) {
    case 'user':
      return `the user: ${action.does} (${action.which})`
    case 'agent':
      return `the agent of ${action.task}: ${action.does} (${action.which})`
    case 'offshoot':
      return verbTold(action.request) + (action.rests ? ', and nobody recovers' : '')
    case 'several':
      return `at once: ${action.requests.map(verbTold).join(' | ')}`
  }
}

function verbTold({ verb, task, which, fault, ...options }: VerbRequest): string {
  const flags = Object.entries(options).map(([name, value]) =>
    value === true ? `--${name}` : `--${name} ${value}`,
  )
  const under = fault ? ` under ${faultTold(fault)}` : ''
  return `${[verb, task, ...flags].join(' ')} (${which})${under}`
}

function faultTold({ kind, at, when, from, child }: FaultPlan): string {
  return [kind, when, `effect ${at}`, from && 'and all later', child && `git ${child}`]
    .filter(Boolean)
    .join(' ')
}
