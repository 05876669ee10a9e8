/**
 * Action → verb: the one table behind the command line, the library and every other door. Verbs are imported when
 * they are called, so that a command pays only for its own.
 */
import type { Ports } from '../core/ports.ts'
import { taskView } from '../core/task.ts'
import type { ActionName, Input, Output } from '../protocol/actions.ts'

interface Handler<In, Out> {
  /** Whether the verb changes anything: only then is it preceded by a recovery. */
  readonly writes: boolean
  run(ports: Ports, input: In, signal?: AbortSignal): Promise<Out>
}

type HandlerOf<A extends ActionName> = Handler<Input<A>, Output<A>>

const start: HandlerOf<'task.start'> = {
  writes: true,
  async run(ports, { repo, ...input }, signal) {
    const { start } = await import('../core/start.ts')
    const { task, reused, recreated } = await start(ports, { dir: repo, ...input }, signal)
    return { task: taskView(task), reused, recreated }
  },
}

const list: HandlerOf<'task.list'> = {
  writes: false,
  async run(ports, { repo, ...input }) {
    const { list } = await import('../core/list.ts')
    return { tasks: (await list(ports, { dir: repo, ...input })).map((task) => taskView(task)) }
  },
}

const show: HandlerOf<'task.show'> = {
  writes: false,
  async run(ports, { repo, task: name }, signal) {
    const { show } = await import('../core/show.ts')
    const { task, dirty } = await show(ports, { dir: repo, task: name }, signal)
    return { task: taskView(task, dirty) }
  },
}

export const handlers: { readonly [A in ActionName]: HandlerOf<A> } = {
  'task.start': start,
  'task.list': list,
  'task.show': show,
  'worktree.create': start,
  'worktree.list': list,
  'worktree.show': show,
  'worktree.remove': {
    writes: true,
    async run(ports, { repo, ...input }, signal) {
      const { remove } = await import('../core/remove.ts')
      const { task, removed, ignored, branchKept } = await remove(ports, { dir: repo, ...input }, signal)
      return { removed, task: taskView(task), branchKept, ignored: [...ignored], trash: task.trash ?? null }
    },
  },
  'worktree.prune': {
    writes: false,
    async run(ports, { repo, olderThanMs }) {
      const { prune } = await import('../core/prune.ts')
      const verdicts = await prune(ports, { dir: repo, olderThanMs })
      const told = (stale: boolean) =>
        verdicts
          .filter((verdict) => verdict.stale === stale)
          .map(({ task, why }) => ({ task: taskView(task), why }))
      return { stale: told(true), kept: told(false) }
    },
  },
  'system.doctor': {
    writes: false,
    async run(ports, { repo }, signal) {
      const { doctor } = await import('../core/doctor.ts')
      return { checks: await doctor(ports, { dir: repo }, signal) }
    },
  },
  'system.recover': {
    writes: false,
    async run(ports, _, signal) {
      const { recover } = await import('../core/recover.ts')
      return { recovered: await recover(ports, signal) }
    },
  },
  'system.repos': {
    writes: false,
    async run(ports) {
      const { repos } = await import('../core/repos.ts')
      return { repos: await repos(ports) }
    },
  },
  'system.config': {
    writes: false,
    async run(ports, { repo }) {
      const place = await ports.git.locate(repo).catch(() => undefined)
      return { settings: await ports.settings.readWithOrigin(place?.checkout ?? null) }
    },
  },
}

/** Runs one action. What an earlier process left half-done is put right before anything is changed. */
export async function call<A extends ActionName>(
  ports: Ports,
  action: A,
  input: Input<A>,
  signal?: AbortSignal,
): Promise<Output<A>> {
  const handler = handlers[action]
  signal?.throwIfAborted()
  if (handler.writes && ports.store.readPendingTasks().length > 0) {
    const { recover } = await import('../core/recover.ts')
    await recover(ports, signal)
  }
  return handler.run(ports, input, signal)
}
