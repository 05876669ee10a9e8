/** The verbs, on a task called T1. */
import { call } from '../../src/api/handlers.ts'
import type { Ports } from '../../src/core/ports.ts'

export const start = (ports: Ports, repo: string, more: object = {}, signal?: AbortSignal) =>
  call(ports, 'task.start', { repo, task: 'T1', ...more }, signal)

export const remove = (ports: Ports, repo: string, more: object = {}, signal?: AbortSignal) =>
  call(ports, 'worktree.remove', { repo, task: 'T1', ...more }, signal)

export const checkpoint = (ports: Ports, repo: string, more: object = {}, signal?: AbortSignal) =>
  call(ports, 'task.checkpoint', { repo, task: 'T1', ...more }, signal)

export const accept = (ports: Ports, repo: string, more: object, signal?: AbortSignal) =>
  call(ports, 'task.accept', { repo, task: 'T1', ...more }, signal)

/** Every other hunk of what is left to land. */
export const acceptHunks = async (ports: Ports, repo: string, signal?: AbortSignal) => {
  const { hunks = [] } = await call(ports, 'task.diff', { repo, task: 'T1', hunks: true }, signal)
  const chosen = hunks.filter((_, n) => n % 2 === 0).map(({ id }) => id)
  return accept(ports, repo, { hunks: chosen }, signal)
}

export const undo = (ports: Ports, repo: string, signal?: AbortSignal) =>
  call(ports, 'system.undo', { repo }, signal)

/** Takes the last undo back. */
export const redo = async (ports: Ports, repo: string, signal?: AbortSignal) => {
  const { operations } = await call(ports, 'system.ops', { repo }, signal)
  const last = operations.find(({ verb, undone }) => verb === 'undo' && !undone)
  return call(ports, 'system.undo', { repo, operation: last?.id }, signal)
}

export const rewind = (ports: Ports, repo: string, signal?: AbortSignal) =>
  call(ports, 'task.rewind', { repo, task: 'T1', to: 0 }, signal)

export const reject = (ports: Ports, repo: string, signal?: AbortSignal) =>
  call(ports, 'task.reject', { repo, task: 'T1' }, signal)

/** All that can go, however new. */
export const prune = (ports: Ports, repo: string, signal?: AbortSignal) =>
  call(ports, 'task.prune', { repo, olderThanMs: 0, force: true }, signal)

/** A run that comes to nothing, after which a task in the user's checkout is given up. */
export async function failingRun(ports: Ports, repo: string, signal?: AbortSignal): Promise<void> {
  const command = ['sh', '-c', 'exit 1']
  const { task } = await call(
    ports,
    'task.run',
    { repo, task: 'T1', starts: true, command },
    signal,
    () => {},
  )
  if (task.state !== 'rejected') throw new Error(`it was not given up, but is ${task.state}`)
}

const script = 'echo ran >ran.txt && rm later.txt && echo again >>ran.txt'

export const run = (ports: Ports, repo: string, signal?: AbortSignal) =>
  call(
    ports,
    'task.run',
    { repo, task: 'T1', starts: false, command: ['sh', '-c', script] },
    signal,
    () => {},
  )
