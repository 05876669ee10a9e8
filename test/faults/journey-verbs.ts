/** The verbs, on a task called T1. */
import { call } from '../support/call.ts'
import { autoRevert } from '../../src/core/closing/auto-revert.ts'
import type { Ports } from '../../src/core/ports/index.ts'

export const start = (ports: Ports, repo: string, more: object = {}, signal?: AbortSignal) =>
  call(ports, 'task.start', { repo, task: 'T1', ...more }, signal)

export const pool = (ports: Ports, repo: string, signal?: AbortSignal) =>
  call(ports, 'system.pool', { repo }, signal)

export const remove = (ports: Ports, repo: string, more: object = {}, signal?: AbortSignal) =>
  call(ports, 'worktree.remove', { repo, task: 'T1', ...more }, signal)

export const checkpoint = (ports: Ports, repo: string, more: object = {}, signal?: AbortSignal) =>
  call(ports, 'task.checkpoint', { repo, task: 'T1', ...more }, signal)

export const accept = (ports: Ports, repo: string, more: object, signal?: AbortSignal) =>
  call(ports, 'task.accept', { repo, task: 'T1', ...more }, signal)

/** Some of the hunks: the same ones, whatever else there is by then. */
export const acceptHunks = async (ports: Ports, repo: string, signal?: AbortSignal) => {
  const { hunks = [] } = await call(ports, 'task.diff', { repo, task: 'T1', hunks: true }, signal)
  const chosen = hunks.filter(({ path }) => path === 'a.txt' || path === 'src/b.txt').map(({ id }) => id)
  return accept(ports, repo, { hunks: chosen }, signal)
}

export const undo = (ports: Ports, repo: string, signal?: AbortSignal) =>
  call(ports, 'system.undo', { repo }, signal)

/** Puts back what a run did to refs. */
export const undoStrays = async (ports: Ports, repo: string, signal?: AbortSignal) => {
  const { operations } = await call(ports, 'system.ops', { repo }, signal)
  const run = operations.find(({ verb }) => verb === 'run')
  return call(ports, 'system.undo', { repo, operation: run?.id ?? 'none' }, signal)
}

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
export async function prune(ports: Ports, repo: string, signal?: AbortSignal): Promise<void> {
  const { errors } = await call(ports, 'task.prune', { repo, olderThanMs: 0, force: true }, signal)
  if (errors.length > 0) throw new Error(errors.map(({ error }) => error.message).join(', '))
}

/** Gives up what nobody has used for long. */
export async function giveUp(ports: Ports, dir: string): Promise<void> {
  await autoRevert(ports, { dir, byFolder: false })
  const left = await ports.store.readTasks({ open: true })
  if (left.length > 0) throw new Error(`${left.map(({ id }) => id).join(', ')} was not given up`)
}

const script = 'echo ran >ran.txt && rm later.txt && echo again >>ran.txt'

export const run = (ports: Ports, repo: string, signal?: AbortSignal) =>
  call(
    ports,
    'task.run',
    { repo, task: 'T1', create: false, command: ['sh', '-c', script] },
    signal,
    () => {},
  )

export const repair = (ports: Ports, repo: string, more: object = {}, signal?: AbortSignal) =>
  call(ports, 'task.repair', { repo, ...more }, signal)
