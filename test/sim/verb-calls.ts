/** Requests as calls of the API. */
import type { Composed } from '../../src/compose/full.ts'
import { call } from '../support/call.ts'
import { appError } from '../../src/core/model/errors.ts'
import type { ActionName } from '../../src/actions/index.ts'
import type { Input } from '../../src/protocol/schemas/index.ts'
import { agentScript, onlyPaths } from './user-and-agent.ts'
import type { VerbRequest } from './history-actions.ts'
import type { Snapshot } from './quick-snapshot.ts'

export interface Call {
  readonly action: ActionName
  readonly input: Record<string, unknown>
}

/** What the request comes to in this state. Hunks are named by what they hold: they are asked for when it is carried out. */
export function callFor(request: VerbRequest, dir: string, snapshot: Snapshot): Call {
  const { verb, task, which } = request
  const named = { repo: dir, task }
  const steps = snapshot.tasks.find(({ id }) => id === task)?.checkpoints ?? 0
  const flags = pick(request, ['isolation', 'from', 'conflicts', 'keep', 'force', 'keepBranch'])
  switch (verb) {
    case 'start':
    case 'checkpoint':
    case 'update':
    case 'reject':
    case 'delete':
    case 'repair':
      return { action: `task.${verb}`, input: { ...named, ...flags } }
    case 'rewind':
      return { action: 'task.rewind', input: { ...named, to: which % (steps + 1) } }
    case 'run': {
      const script = `${agentScript('edit', which)}; ${agentScript('create', which + 1)}; ${agentScript('delete', which + 2)}; true`
      return { action: 'task.run', input: { ...named, create: false, command: ['sh', '-c', script] } }
    }
    case 'accept':
      return {
        action: 'task.accept',
        input: { ...named, as: request.as, ...flags, allow: ['**'], ...part(request, steps) },
      }
    case 'remove':
      return { action: 'worktree.remove', input: { ...named, ...flags } }
    case 'prune':
      return { action: 'task.prune', input: { repo: dir } }
    case 'forget':
      return { action: 'system.forget', input: { repo: dir } }
    case 'undo':
    case 'redo':
      return { action: 'system.undo', input: { repo: dir, ...operation(request, snapshot) } }
  }
}

function pick(request: VerbRequest, names: readonly (keyof VerbRequest)[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => name in request).map((name) => [name, request[name]]))
}

function part({ part, which }: VerbRequest, steps: number): Record<string, unknown> {
  if (part === 'only') return { only: onlyPaths(which) }
  if (part === 'step' && steps > 0) return { steps: [1 + (which % steps)] }
  return part === 'hunks' ? { hunks: which } : {}
}

/** An undo is of the last one, or of any; a redo is the undo of an undo. */
function operation({ verb, which }: VerbRequest, { operations }: Snapshot): Record<string, unknown> {
  // What strayed in a run is the user's own work here.
  const able = operations.filter(
    (known) => !known.undone && known.verb !== 'run' && (known.verb === 'undo') === (verb === 'redo'),
  )
  const chosen = able[which % 3 === 0 ? which % Math.max(able.length, 1) : 0]
  return chosen || verb === 'redo' ? { operation: chosen?.id ?? 'none' } : {}
}

/** Carries it out. A number in the place of hunks means some of those that there are. */
export async function carryOut(
  ports: Composed,
  { action, input }: Call,
  signal?: AbortSignal,
): Promise<unknown> {
  const { hunks: some, ...rest } = input
  if (typeof some !== 'number') return call(ports, action, input as Input<ActionName>, signal, () => {})
  const { repo, task } = rest as { repo: string; task: string }
  // To ask is not to write: the verb itself has to see what is half-made.
  const asked = call(ports, 'task.diff', { repo, task, hunks: true, format: 'names' })
  const { hunks = [] } = await asked.catch((error: unknown) => {
    if (appError(error).code !== 'WT_005') throw error
    return { hunks: [] }
  })
  const chosen = hunks.filter((_, n) => (n + some) % 2 === 0).map(({ id }) => id)
  return call(ports, action, { ...rest, repo, task, hunks: chosen } as Input<ActionName>, signal, () => {})
}
