/** Handlers of the actions that only look. */
import type { look as table } from '../../actions/look.ts'
import { taskView } from '../../core/model/task-view.ts'
import type { Told } from '../../protocol/events.ts'
import { forecastView, stepView, taskForecastView } from '../views.ts'
import type { Handlers } from './handler.ts'
import type { recordHandlers } from './records.ts'

export const look: Handlers<Exclude<keyof typeof table, keyof typeof recordHandlers>> = {
  async 'worktree.list'(ports, { repo, all }, { signal }) {
    const { worktrees } = await import('../../core/verbs/worktrees.ts')
    const { list } = await import('../../core/verbs/list.ts')
    const { tasks } = await list(ports, { dir: repo, all })
    return {
      worktrees: await worktrees(ports, { dir: repo }, signal),
      tasks: tasks.map((task) => taskView(task)),
    }
  },
  async 'task.show'(ports, { repo, task: name }, { signal }) {
    const { show } = await import('../../core/verbs/show.ts')
    const shown = await show(ports, { dir: repo, task: name }, signal)
    const { task, dirty, landed, landedIn, putAway, otherBranch, strayed } = shown
    const { steps, files, noStep, unread, runs, lastWords, denied, forecast } = shown
    return {
      task: taskView(task, dirty, landed),
      ...(landedIn && { landedIn }),
      ...(putAway !== undefined && { putAway }),
      ...(otherBranch !== undefined && { otherBranch }),
      ...(strayed && { strays: strayed.changes }),
      ...(strayed?.operation !== undefined && { operation: strayed.operation }),
      checkpoints: steps.map((step) => stepView(step, step.files, step.published)),
      files,
      ...(noStep && { noStep }),
      ...(unread !== undefined && { unread }),
      runs,
      ...(lastWords !== undefined && { lastWords }),
      denied,
      ...(forecast && { forecast: { ...taskForecastView(forecast.task), pairs: forecast.pairs } }),
    }
  },
  async 'task.log'(ports, { repo, ...input }, { signal }) {
    const { log } = await import('../../core/verbs/log.ts')
    const { task, steps, runs } = await log(ports, { dir: repo, ...input }, signal)
    return {
      task: taskView(task),
      checkpoints: steps.map((step) => stepView(step, step.files, step.published)),
      ...(runs && { runs }),
    }
  },
  async 'task.attach'(ports, { repo, task: name }, { signal, emit }) {
    const { attach } = await import('../../core/verbs/attach.ts')
    // The process of the run wrote the lines as `--json` does.
    const tell = (line: object) => void emit?.(line as Told)
    return { task: taskView(await attach(ports, { dir: repo, task: name }, tell, signal)) }
  },
  async 'task.diff'(ports, { repo, ...input }, { signal }) {
    const { diff } = await import('../../core/verbs/diff.ts')
    const shown = await diff(ports, { dir: repo, ...input }, signal)
    const { from, to, files, total, noStep, unread, hunks, text } = shown
    const { insertions, deletions } = total
    const present = { ...(noStep && { noStep }), ...(unread !== undefined && { unread }) }
    const cut = hunks && { hunks }
    return { from, to, files, insertions, deletions, ...present, ...cut, diff: text.toString() }
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
  async 'task.forecast'(ports, { repo, after }, { signal }) {
    const { forecast } = await import('../../core/verbs/forecast.ts')
    return forecastView(await forecast(ports, { dir: repo, after }, signal))
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
  async 'system.queue'(ports) {
    const { queue } = await import('../../core/verbs/queue.ts')
    return queue(ports)
  },
}
