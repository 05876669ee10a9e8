/** Handlers of the actions that land work, discard it or undo either. */
import type { land as table } from '../../actions/land.ts'
import { taskView } from '../../core/model/task-view.ts'
import type { UndoneOperation } from '../../core/verbs/undo.ts'
import { outputTo, riskTo, stepView } from '../views.ts'
import type { Handlers } from './handler.ts'

export const land: Handlers<keyof typeof table> = {
  async 'task.accept'(ports, { repo, ...input }, { signal, emit, watch }) {
    const { accept } = await import('../../core/verbs/accept.ts')
    const { siblingsOf } = await import('../../core/tasks/find.ts')
    const asked = { dir: repo, onOutput: outputTo(emit), onRisk: riskTo(emit), ...input }
    const {
      task,
      as,
      preview,
      operation,
      onto,
      commit,
      url,
      hook,
      left: changed = [],
      skipped = [],
    } = await accept(ports, asked, signal, watch)
    const { files, left, leftovers, runsCode, risks } = preview
    const unheld = skipped.length > 0 ? { skipped } : {}
    if (input.dryRun) {
      return { task: taskView(task), preview, ...unheld }
    }
    const unplaced = left.length > 0 ? { left } : {}
    const accepted = { as, onto, commit, url, files, ...unplaced, runsCode, risks, leftovers }
    const others = (await siblingsOf(ports, task)).map(({ id }) => id)
    return {
      task: taskView(task),
      accepted,
      conflicts: preview.marked,
      operation,
      ...unheld,
      ...(changed.length > 0 && { left: changed }),
      ...(hook && { hook }),
      ...(others.length > 0 && { siblings: others }),
    }
  },
  async 'task.update'(ports, { repo, ...input }, { signal, watch }) {
    const { update } = await import('../../core/verbs/update.ts')
    const { task, step, conflicts, operation } = await update(ports, { dir: repo, ...input }, signal, watch)
    return {
      task: taskView(task),
      ...(step && { checkpoint: stepView(step, []) }),
      conflicts,
      ...(operation !== undefined && { operation }),
    }
  },
  async 'task.reject'(ports, { repo, ...input }, { signal, emit, watch }) {
    const { reject } = await import('../../core/verbs/reject.ts')
    const asked = { dir: repo, onOutput: outputTo(emit), ...input }
    const { task, ...rest } = await reject(ports, asked, signal, watch)
    return { task: taskView(task), ...rest }
  },
  async 'task.delete'(ports, { repo, ...input }, { signal, emit, watch }) {
    const { reject } = await import('../../core/verbs/reject.ts')
    const asked = { dir: repo, hide: true, onOutput: outputTo(emit), ...input }
    const { task, ...rest } = await reject(ports, asked, signal, watch)
    return { task: taskView(task), ...rest }
  },
  async 'system.undo'(ports, { repo, operation }, { signal, watch }) {
    const { undo } = await import('../../core/verbs/undo.ts')
    const { also, errors, ...done } = await undo(ports, { dir: repo, operation }, signal, watch)
    return {
      ...undoneView(done),
      ...(also.length > 0 && { also: also.map(undoneView) }),
      ...(errors.length > 0 && {
        errors: errors.map(({ undone, error }) => ({
          undone: undone.id,
          task: undone.task,
          error: error.toJSON(),
        })),
      }),
    }
  },
}

function undoneView({ task, undone: { id, verb }, operation, files, left }: UndoneOperation) {
  return { task: taskView(task), undone: id, verb, operation, files, ...(left.length > 0 && { left }) }
}
