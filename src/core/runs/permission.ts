/** Answers an agent that asks whether a tool may run: by the policy, by earlier answers, or by a person. */
import { loadPathMatcher } from '../base/pathspec.ts'
import { now } from '../base/time.ts'
import type { ToolCall, Permission } from '../model/agent.ts'
import { append } from '../tasks/records.ts'
import { type RunTold, type ToldCall, toldCall } from './attend.ts'
import { knowCall, realPlace } from './known-call.ts'
import type { PolicyPlace } from './places.ts'
import { decide, type Decision, type Policy } from './policy.ts'
import type { ActiveRun } from './run.ts'
import { type KeptInput, keptInput, wholeInput } from './whole-input.ts'

/** The answer of a person; `always` holds for the rest of the task. */
export type Said = 'once' | 'always' | 'deny'

/** A call as a person is asked about it: with all of its input, nothing cut and nothing masked. */
type AskedCall = ToldCall & { readonly input: unknown }

/** Undefined at once: nobody is there. A promise of nothing: whoever was there gave no answer. */
export type Ask = (call: AskedCall, reason: string) => Promise<Said | undefined> | undefined

export interface PermitOptions {
  readonly policy: Policy
  readonly place: PolicyPlace
  /** Follows every link of a path, for the part of it that exists. */
  readonly readRealPath: (file: string) => Promise<string>
  readonly tell: (event: RunTold) => void
  /** Asks a person; without it, every call that the policy leaves open is denied. */
  readonly ask?: Ask | undefined
  /** Keeps a question that nobody was there for, until somebody answers it. */
  readonly keep?: Keep | undefined
}

/** A question to keep: the call, why it is asked about, and all of its input. */
export interface OpenQuestion extends ToldCall, KeptInput {
  readonly reason: string
  readonly whole: unknown
}

type Keep = (open: OpenQuestion) => Promise<Said | undefined>

type Permit = (call: ToolCall) => Promise<Permission>

/** Answers with the policy of a run, and records every answer in the log. */
export async function permits(run: ActiveRun, options: PermitOptions): Promise<Permit> {
  const { ports, task, id } = run
  return answers(options, await readAlways(run), async (decided) => {
    const event = { type: 'run.decided', run: id, ...decided } as const
    await append(ports, task.uid, event, now(ports))
  })
}

type Decided = Settled & ToldCall & KeptInput & { readonly use: string | undefined }

/** Answers without a log. `before` are the uses that the user has allowed with `always`. */
export function answers(
  { policy, place, readRealPath, tell, ask, keep }: PermitOptions,
  before: Iterable<string> = [],
  note: (decided: Decided) => Promise<void> = async () => {},
): Permit {
  const always = new Set(before)
  return async (call) => {
    const real = await realPlace(place, readRealPath)
    const known = await knowCall(call, real, readRealPath)
    const decision = decide(policy, known, real, await loadPathMatcher())
    const told = toldCall(call, place.workspace)
    const kept = keptInput(call)
    const whole = wholeInput(call)
    const asking = async (reason: string) =>
      (await ask?.({ ...told, input: whole }, reason)) ?? keep?.({ ...told, ...kept, reason, whole })
    const settled = await settle(decision, kept.inputHash, always, asking)
    const { allow, by, reason } = settled
    await note({ ...settled, ...kept, use: by === 'always' ? kept.inputHash : undefined, ...told })
    tell({ event: 'decided', allow, reason, ...told })
    return allow ? { allow } : { allow, reason: `offshoot: ${reason}` }
  }
}

/** The uses that the user has allowed in earlier runs of the task, also one that was killed before it heard of it. */
async function readAlways({ ports, task }: ActiveRun): Promise<string[]> {
  const types = ['run.decided', 'run.answered'] as const
  return (await ports.store.readEvents({ uid: task.uid, types })).flatMap(({ event }) =>
    'use' in event && event.use !== undefined ? [event.use] : [],
  )
}

interface Settled {
  readonly allow: boolean
  readonly by: 'policy' | 'always' | 'user' | 'nobody'
  readonly reason: string
}

async function settle(
  { verdict, reason }: Decision,
  use: string,
  always: Set<string>,
  ask: (reason: string) => Promise<Said | undefined>,
): Promise<Settled> {
  if (verdict !== 'ask') return { allow: verdict === 'allow', by: 'policy', reason }
  if (always.has(use)) return { allow: true, by: 'always', reason: 'you have allowed it for this task' }
  const said = await ask(reason)
  if (said === undefined)
    return { allow: false, by: 'nobody', reason: `${reason}; nobody is there to be asked` }
  if (said === 'deny') return { allow: false, by: 'user', reason: `${reason}; the user said no` }
  if (said === 'always') always.add(use)
  return { allow: true, by: said === 'always' ? 'always' : 'user', reason: 'the user said yes' }
}
