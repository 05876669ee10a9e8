/** The caller of an action. The door finds out who it is and hands it to `openDoor`; no input can claim it. */
import type { Action } from '../actions/action.ts'
import { type ActionName, actions } from '../actions/index.ts'
import { quoted } from '../core/base/shell-quote.ts'
import type { Scope } from '../core/model/enums.ts'
import { AppError } from '../core/model/errors.ts'
import { isOpen, runsOf, type Task } from '../core/model/task.ts'
import type { Ports, Records } from '../core/ports/index.ts'

export type Caller =
  | {
      readonly kind: 'user'
      /** Nobody is there to answer, as in CI. */
      readonly isUnattended?: boolean | undefined
    }
  /** A process below the run of an agent. */
  | { readonly kind: 'agent'; readonly run: string }
  /** A program with the token of a task, by the uid of the task. */
  | { readonly kind: 'agent'; readonly task: string }
  | {
      readonly kind: 'token'
      readonly scopes: readonly Scope[]
      /** The command with which the user gives another scope; else they make another token. */
      readonly widen?: ((needed: Scope) => string) | undefined
    }

/** The user, unless the process is a part of a run. */
export function callerOf(run: string | undefined, isUnattended?: boolean): Caller {
  return run === undefined ? { kind: 'user', isUnattended } : { kind: 'agent', run }
}

/** Throws `policyRefused` for a token without the scope that the action needs with this input. */
export function requireScope(caller: Caller, action: Action, isPreview = false, input: object = {}): void {
  const needed = neededScope(action, isPreview, input)
  if (caller.kind !== 'token' || caller.scopes.includes(needed)) return
  throw new AppError('policyRefused', `This needs the scope ${needed}, which you were not given.`, {
    hint:
      caller.widen === undefined
        ? `Use a token with the scope ${needed}.`
        : `Only the user can give it, with ${caller.widen(needed)}, or do it themselves.`,
    data: { scope: needed },
  })
}

/** A preview that writes nothing needs only `look`; what changes the user's checkout needs `land`. */
function neededScope(
  { scope, previewWrites, inCheckout = {} }: Action,
  isPreview: boolean,
  input: object,
): Scope {
  if (isPreview && !previewWrites) return 'look'
  const given = input as Readonly<Record<string, unknown>>
  return Object.entries(inCheckout).some(([field, value]) => given[field] === value) ? 'land' : scope
}

/**
 * Throws `policyRefused` when an agent calls an action that is not for it, or asks about the task of another, and records the
 * wish, which the user is told (docs/adr/0042-what-an-agent-may-do.md).
 */
export async function requireUser(
  ports: Ports,
  caller: Caller,
  name: ActionName,
  input: object,
): Promise<void> {
  if (caller.kind !== 'agent') return
  const { forAgent, options, command = name.split('.')[1] ?? '' }: Action = actions[name]
  if (forAgent === 'all') return
  // Reading `ports.store` opens the store. `doctor` must work without it, so this comes after the return above.
  const own = await findOwn(ports, caller)
  if (forAgent === 'own') return requireOwn(ports, own, input)
  const run = 'run' in caller ? caller.run : own && runsOf(own)[0]?.run
  if (own && run !== undefined) {
    const { append } = await import('../core/tasks/records.ts')
    const wish = { type: 'run.wanted', run, verb: command } as const
    await append(ports, own.uid, wish, ports.clock.now().toISOString())
  }
  const { task = own?.id } = input as { task?: string }
  const whose = task !== undefined && options.task ? ` ${quoted(task)}` : ''
  const told = own && run !== undefined ? 'The user is told that you want it. ' : ''
  throw new AppError('policyRefused', `An agent may not ${command}: that is for the user to decide.`, {
    hint: `${told}Only they can run: offshoot ${command}${whose}`,
  })
}

/**
 * Throws `policyRefused` when a program with the token of a task names another repository than that of its task, or when the
 * task is closed: an agent below a run is on this machine anyway, but such a program may be anywhere, for as long as its
 * token is valid.
 */
export async function requireOwnRepo(ports: Ports, caller: Caller, input: object): Promise<void> {
  if (caller.kind !== 'agent' || 'run' in caller || !('repo' in input)) return
  const own = await findOwn(ports, caller)
  if (own && (await isWithin(ports, own.repo, input))) return
  throw new AppError(
    'policyRefused',
    'The token of a task is for the repository of that task, while it is open.',
    {
      hint: own ? `Your task is ${own.id}.` : 'The task is closed.',
    },
  )
}

/** Whether all that the input names belongs to a repository. A folder that is in none does not. */
async function isWithin(records: Records, id: string, input: object): Promise<boolean> {
  const [{ findRepo }, { findTaskByPath }] = await Promise.all([
    import('../core/tasks/repo.ts'),
    import('../core/tasks/find.ts'),
  ])
  const { repo: dir = '', path } = input as { repo?: string; path?: string }
  const found = await findRepo(records, dir).catch(() => undefined)
  const there = path === undefined ? undefined : await findTaskByPath(records, path)
  return found?.repo?.id === id && (there === undefined || there.repo === id)
}

type Agent = Extract<Caller, { kind: 'agent' }>

/** The task of the agent; undefined when its run has ended, or its task is closed. */
async function findOwn({ store }: Pick<Ports, 'store'>, agent: Agent): Promise<Task | undefined> {
  if ('run' in agent) {
    const pending = await store.readPendingTasks()
    return pending.find((task) => runsOf(task).some((mark) => mark.run === agent.run))
  }
  const task = await store.findTaskByUid(agent.task)
  return task && isOpen(task) ? task : undefined
}

async function requireOwn(records: Records, own: Task | undefined, input: object): Promise<void> {
  const { requireTask } = await import('../core/tasks/find.ts')
  const { repo = '', task } = input as { repo?: string; task?: string }
  const meant = own && (await requireTask(records, repo, task))
  if (own !== undefined && meant?.task.uid === own.uid) return
  throw new AppError('policyRefused', 'During its run an agent may look at its own task only.', {
    hint: own ? `Your task is ${own.id}.` : 'The run of this process has ended, or its task is closed.',
  })
}
