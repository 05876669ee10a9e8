/** Handlers of the actions that clean up, repair and check. */
import type { health as table } from '../../actions/health.ts'
import type { Task } from '../../core/model/task.ts'
import { taskView } from '../../core/model/task-view.ts'
import { outputTo } from '../views.ts'
import type { Handlers } from './handler.ts'

export const health: Handlers<keyof typeof table> = {
  async 'task.prune'(ports, { repo, ...input }, { signal, watch }) {
    const { prune } = await import('../../core/verbs/prune.ts')
    const pruned = await prune(ports, { dir: repo, ...input }, signal, watch)
    const { stale, removed, skipped, errors, warnings } = pruned
    const told = ({ task, why }: { task: Task; why: string }) => ({ task: taskView(task), why })
    return {
      dryRun: input.dryRun ?? false,
      stale: stale.map(told),
      removed: removed.map((one) => ({ ...told(one), operation: one.operation })),
      skipped: skipped.map(told),
      errors: errors.map(({ task, error }) => ({ task: taskView(task), error: error.toJSON() })),
      warnings,
    }
  },
  async 'worktree.remove'(ports, { repo, ...input }, { signal, emit, watch }) {
    const { remove } = await import('../../core/verbs/remove.ts')
    const { task, removed, ignored, branchKept, landed, operation } = await remove(
      ports,
      { dir: repo, onOutput: outputTo(emit), ...input },
      signal,
      watch,
    )
    return {
      removed,
      task: taskView(task, null, landed),
      branchKept,
      ignored,
      trash: task.trash ?? null,
      operation,
    }
  },
  async 'task.repair'(ports, { repo, ...input }, { signal }) {
    const { repair } = await import('../../core/verbs/repair.ts')
    const { task, mended, repaired, left, rebuilt } = await repair(ports, { dir: repo, ...input }, signal)
    return {
      ...(task && { task: taskView(task), mended }),
      repaired,
      left,
      ...(rebuilt && { rebuilt }),
    }
  },
  async 'system.recover'(ports, _, { signal }) {
    const { recover } = await import('../../core/recovery/reconcile.ts')
    return recover(ports, signal)
  },
  async 'system.doctor'(ports, { repo }, { signal }) {
    const { doctor } = await import('../../core/verbs/doctor.ts')
    return { checks: await doctor(ports, { dir: repo }, signal) }
  },
  async 'system.orphans'(ports, { repo }, { signal }) {
    const { orphans } = await import('../../core/verbs/orphans.ts')
    return { orphans: await orphans(ports, { dir: repo }, signal) }
  },
  async 'system.pool'(ports, { repo, clear }, { signal }) {
    const { fillPool } = await import('../../core/verbs/pool.ts')
    return fillPool(ports, { dir: repo, clear }, signal)
  },
  async 'system.forget'(ports, { repo }, { signal }) {
    const { forget } = await import('../../core/verbs/forget.ts')
    const { path, closed, errors } = await forget(ports, { path: repo }, signal)
    return {
      repo: path,
      closed: closed.map(({ task, operation }) => ({ task: taskView(task), operation })),
      errors: errors.map(({ task, error }) => ({ task: taskView(task), error: error.toJSON() })),
    }
  },
}
