/** Handlers of the actions that read only the records, which a door can answer without loading the other adapters (docs/adr/0016-records-apart-and-one-bundle.md). */
import { type ActionName, actions } from '../../actions/index.ts'
import type { Ports, Records } from '../../core/ports/index.ts'
import { isOpen } from '../../core/model/task.ts'
import { taskView } from '../../core/model/task-view.ts'
import type { Handlers } from './handler.ts'

export type RecordAction = 'task.list' | 'task.find' | 'task.exists' | 'system.notices'

export const recordHandlers: Handlers<RecordAction, Records> = {
  async 'task.list'(records, { repo, ...input }) {
    const { list } = await import('../../core/verbs/list.ts')
    const { seq, tasks, forecast, movedFrom } = await list(records, { dir: repo, ...input })
    return {
      tasks: tasks.map((task) => taskView(task)),
      seq,
      ...(forecast && { forecast }),
      ...(movedFrom !== undefined && { movedFrom }),
    }
  },
  async 'task.find'(records, { repo, task: id, path }) {
    const { findTask, findTaskByPath } = await import('../../core/tasks/find.ts')
    const named = id === undefined ? undefined : await findTask(records, repo, id)
    const found = path === undefined ? named : await findTaskByPath(records, path)
    const { asListed } = await import('../../core/tasks/liveness.ts')
    const [shown] = found ? await asListed(records, [found]) : []
    return { task: shown ? taskView(shown) : null }
  },
  async 'task.exists'(records, { repo, task: id }) {
    const { findTask } = await import('../../core/tasks/find.ts')
    const found = await findTask(records, repo, id)
    return { exists: found !== undefined && isOpen(found) }
  },
  async 'system.notices'(records, { repo }, asked) {
    const { readNewNotices } = await import('../../core/verbs/notices.ts')
    // Each notice is handed out once: an agent or a token that read it would take it from the user.
    const isHeard = () => asked.caller.kind === 'user'
    return { notices: await readNewNotices(records, repo, isHeard, isWhole(records) ? records : undefined) }
  },
}

export function isRecordAction(action: ActionName): action is RecordAction {
  return actions[action].records === true
}

/** The door has opened all ports. The notice about settings of other tools needs them, since it reads the checkout. */
function isWhole(records: Records): records is Ports {
  return 'contents' in records
}
