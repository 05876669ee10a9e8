/** Handlers of the actions that only look. */
import type { look as table } from '../../actions/look.ts'
import { taskView } from '../../core/model/task-view.ts'
import { stepView } from '../views.ts'
import type { Handlers } from './handler.ts'
import type { recordHandlers } from './records.ts'

export const look: Handlers<Exclude<keyof typeof table, keyof typeof recordHandlers>> = {
  async 'task.show'(ports, { repo, task: name }, { signal }) {
    const { show } = await import('../../core/verbs/show.ts')
    const { task, dirty, landed } = await show(ports, { dir: repo, task: name }, signal)
    return { task: taskView(task, dirty, landed) }
  },
  async 'task.log'(ports, { repo, task: name }, { signal }) {
    const { log } = await import('../../core/verbs/log.ts')
    const { task, steps } = await log(ports, { dir: repo, task: name }, signal)
    return {
      task: taskView(task),
      checkpoints: steps.map((step) => stepView(step, step.files, step.published)),
    }
  },
  async 'task.diff'(ports, { repo, ...input }, { signal }) {
    const { diff } = await import('../../core/verbs/diff.ts')
    const { from, to, files, total, hunks, text } = await diff(ports, { dir: repo, ...input }, signal)
    const { insertions, deletions } = total
    const cut = hunks && { hunks }
    return { from, to, files, insertions, deletions, ...cut, diff: text.toString() }
  },
  async 'task.compare'(ports, { repo, ...input }, { signal }) {
    const { compare } = await import('../../core/verbs/compare.ts')
    const { rows, diff } = await compare(ports, { dir: repo, ...input }, signal)
    const tasks = rows.map(({ task, files, shared, seconds }) => ({
      task: taskView(task),
      files,
      shared,
      seconds,
    }))
    return { tasks, ...(diff !== undefined && { diff }) }
  },
  async 'system.ops'(ports, { repo }) {
    const { ops } = await import('../../core/verbs/ops.ts')
    return { operations: await ops(ports, { dir: repo }) }
  },
  async 'system.audit'(ports, { repo, verify: verifies, ...input }) {
    const { audit, verify } = await import('../../core/verbs/audit.ts')
    if (!verifies) return { events: await audit(ports, { dir: repo, ...input }) }
    return { verified: await verify(ports) }
  },
  async 'system.disk'(ports, { repo, task }, { signal }) {
    const { disk } = await import('../../core/verbs/disk.ts')
    return disk(ports, { dir: repo, task }, signal)
  },
  async 'system.repos'(ports) {
    const { repos } = await import('../../core/verbs/repos.ts')
    return { repos: await repos(ports) }
  },
}
