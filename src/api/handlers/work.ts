/** Handlers of the actions that make tasks and work in them. */
import type { work as table } from '../../actions/work.ts'
import { AppError } from '../../core/model/errors.ts'
import { taskView } from '../../core/model/task-view.ts'
import { onlooker, outputTo, progressTo, stepView, submodulesView } from '../views.ts'
import type { Handlers } from './handler.ts'

export const work: Handlers<keyof typeof table> = {
  async 'task.start'(ports, { repo, ...input }, { signal, emit }) {
    const { start } = await import('../../core/verbs/start.ts')
    const { task, reused, recreated, included, submodules, pointers, setup } = await start(
      ports,
      { dir: repo, onOutput: outputTo(emit), onProgress: progressTo(emit), ...input },
      signal,
    )
    return {
      task: taskView(task),
      reused,
      recreated,
      ...(included && { included }),
      ...submodulesView(submodules),
      ...(pointers && pointers.length > 0 && { pointers }),
      ...(setup && { setup }),
    }
  },
  async 'task.run'(ports, { repo, command, ...input }, { signal, emit }) {
    const { runAgent } = await import('../../core/verbs/run.ts')
    const ran = await runAgent(ports, { dir: repo, argv: command, ...input }, emit && onlooker(emit), signal)
    const { agent, reason, exitCode, conversation, strays, operation } = ran.value
    const task = taskView(ran.task)
    if (reason !== '' && exitCode === undefined) {
      throw new AppError('agentFailed', `${agent} failed: ${reason}`, {
        data: { task, run: ran.run, reason },
      })
    }
    return {
      task,
      run: ran.run,
      agent,
      ...(exitCode !== undefined && { exitCode }),
      ...(conversation !== undefined && { conversation }),
      strays,
      ...(operation !== undefined && { operation }),
      ...(ran.taken && { checkpoint: stepView(ran.taken.step, ran.taken.files, ran.published) }),
    }
  },
  async 'task.stop'(ports, { repo, task: name }, { signal }) {
    const { stop } = await import('../../core/verbs/stop.ts')
    const { task, stopped } = await stop(ports, { dir: repo, task: name }, signal)
    return { task: taskView(task), stopped }
  },
  async 'task.checkpoint'(ports, { repo, ...input }, { signal }) {
    const { checkpoint } = await import('../../core/verbs/checkpoint.ts')
    const taken = await checkpoint(ports, { dir: repo, ...input }, signal)
    return {
      created: taken.created,
      checkpoint: stepView({ ...taken.step, skipped: taken.skipped }, taken.files, taken.published),
      ignored: taken.ignored,
      unpublished: taken.task.unpublished,
    }
  },
  async 'task.rewind'(ports, { repo, ...input }, { signal }) {
    const { rewind } = await import('../../core/verbs/rewind.ts')
    const { task, step, kept, published, operation } = await rewind(ports, { dir: repo, ...input }, signal)
    return {
      task: taskView(task),
      checkpoint: stepView(step, [], published),
      ...(kept && { kept: kept.n }),
      operation,
    }
  },
  async 'system.direct'(ports, { repo, command, ...input }, { signal, emit }) {
    const { runDirect } = await import('../../core/verbs/run-direct.ts')
    const asked = { dir: repo, create: true, argv: command, ...input }
    const { agent, end } = await runDirect(ports, asked, emit && onlooker(emit), signal)
    const { ok, reason, exitCode } = end
    if (!ok && exitCode === undefined) throw new AppError('agentFailed', `${agent} failed: ${reason}`)
    return { direct: true, agent, ...(exitCode !== undefined && { exitCode }) }
  },
}
