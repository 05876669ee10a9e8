/** Answers an agent that asks whether a tool may run: by the policy, by earlier answers, or by a person. */
import { createHash } from 'node:crypto'
import { loadPathMatcher } from '../base/pathspec.ts'
import { now } from '../base/time.ts'
import type { ToolCall, Permission } from '../model/agent.ts'
import { append } from '../tasks/records.ts'
import { type RunTold, type ToldCall, toldCall } from './attend.ts'
import { decide, type Decision, type Policy, type PolicyPlace } from './policy.ts'
import type { ActiveRun } from './run.ts'

/** The answer of a person; `always` holds for the rest of the task. */
type Said = 'once' | 'always' | 'deny'

export type Ask = (call: ToldCall, reason: string) => Promise<Said | undefined>

export interface PermitOptions {
  readonly policy: Policy
  readonly place: PolicyPlace
  readonly tell: (event: RunTold) => void
  /** Asks a person; without it, every call that the policy leaves open is denied. */
  readonly ask?: Ask | undefined
}

type Permit = (call: ToolCall) => Promise<Permission>

/** Answers with the policy of a run, and records every answer in the log. */
export async function permits(run: ActiveRun, options: PermitOptions): Promise<Permit> {
  const { ports, task, id } = run
  return answers(options, await readAlways(run), async (decided) => {
    const event = { type: 'run.decided', run: id, ...decided } as const
    await append(ports, task.uid, event, now(ports))
  })
}

/** Answers without a log. `before` are the uses that the user has allowed with `always`. */
export function answers(
  { policy, place, tell, ask }: PermitOptions,
  before: Iterable<string> = [],
  note: (
    decided: Settled & ToldCall & { readonly use: string | undefined },
  ) => Promise<void> = async () => {},
): Permit {
  const always = new Set(before)
  return async (call) => {
    const decision = decide(policy, call, place, await loadPathMatcher())
    const told = toldCall(call, place.workspace)
    const settled = await settle(decision, call, always, ask && ((reason) => ask(told, reason)))
    const { allow, by, reason } = settled
    await note({ ...settled, use: by === 'always' ? useOf(call) : undefined, ...told })
    tell({ event: 'decided', allow, reason, ...told })
    return allow ? { allow } : { allow, reason: `offshoot: ${reason}` }
  }
}

/** The uses that the user has allowed in earlier runs of the task. */
async function readAlways({ ports, task }: ActiveRun): Promise<string[]> {
  return (await ports.store.readEvents({ uid: task.uid, types: ['run.decided'] })).flatMap(({ event }) =>
    event.type === 'run.decided' && event.use !== undefined ? [event.use] : [],
  )
}

interface Settled {
  readonly allow: boolean
  readonly by: 'policy' | 'always' | 'user' | 'nobody'
  readonly reason: string
}

async function settle(
  { verdict, reason }: Decision,
  call: ToolCall,
  always: Set<string>,
  ask: ((reason: string) => ReturnType<Ask>) | undefined,
): Promise<Settled> {
  if (verdict !== 'ask') return { allow: verdict === 'allow', by: 'policy', reason }
  const use = useOf(call)
  if (always.has(use)) return { allow: true, by: 'always', reason: 'you have allowed it for this task' }
  const said = await ask?.(reason)
  if (said === undefined)
    return { allow: false, by: 'nobody', reason: `${reason}; nobody is there to be asked` }
  if (said === 'deny') return { allow: false, by: 'user', reason: `${reason}; the user said no` }
  if (said === 'always') always.add(use)
  return { allow: true, by: said === 'always' ? 'always' : 'user', reason: 'the user said yes' }
}

/** The key of a question: the same tool with the same command. It is a hash, because a command may hold a secret. */
const useOf = (call: ToolCall) =>
  createHash('sha256')
    .update(JSON.stringify([call.name, call.command ?? call.files ?? null]))
    .digest('hex')
