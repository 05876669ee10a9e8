/** Handlers of the actions that make tasks and work in them. */
import type { work as table } from '../../actions/work.ts'
import { AppError } from '../../core/model/errors.ts'
import { askedView, taskView } from '../../core/model/task-view.ts'
import type { Ports } from '../../core/ports/index.ts'
import type { Caller } from '../caller.ts'
import { onlooker, outputTo, stepView, submodulesView } from '../views.ts'
import type { Handlers } from './handler.ts'

export const work: Handlers<keyof typeof table> = {
  async 'task.start'(ports, { repo, ...input }, { signal, emit, watch }) {
    const { start } = await import('../../core/verbs/start.ts')
    const { task, reused, recreated, included, submodules, pointers, putAway, setup } = await start(
      ports,
      { dir: repo, onOutput: outputTo(emit), ...input },
      signal,
      watch,
    )
    return {
      task: taskView(task),
      reused,
      recreated,
      ...(included && { included }),
      ...submodulesView(submodules),
      ...(pointers && pointers.length > 0 && { pointers }),
      ...(putAway !== undefined && { putAway }),
      ...(setup && { setup }),
    }
  },
  async 'task.run'(ports, { repo, command, entry, ...input }, { signal, emit, watch }) {
    const { runAgent } = await import('../../core/verbs/run.ts')
    const given = { dir: repo, argv: command, ...input }
    const asked = entry === undefined ? given : await orderOf(ports, entry)
    const ran = await runAgent(ports, asked, emit && onlooker(emit), signal, watch)
    const { agent, reason, exitCode, conversation, strays, operation } = ran.value
    const task = taskView(ran.task)
    if (reason !== '' && exitCode === undefined) {
      // An agent that a command line names is not known to `resume`.
      const canGoOn = conversation !== undefined && task.state === 'failed' && asked.argv === undefined
      throw new AppError('agentFailed', `${agent} failed: ${reason}`, {
        hint: canGoOn
          ? `Go on with it: offshoot resume ${task.id}`
          : `What it did is kept: offshoot diff ${task.id}`,
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
  async 'task.detach'(ports, { repo, command, ...input }, { signal, emit, watch }) {
    const { detach } = await import('../../core/verbs/detach.ts')
    const asked = { dir: repo, argv: command, onOutput: outputTo(emit), ...input }
    const { task, ...turn } = await detach(ports, asked, signal, watch)
    return { task: taskView(task), ...turn }
  },
  async 'task.plan'(ports, { repo, ...input }) {
    const { plan } = await import('../../core/verbs/plan.ts')
    return { agents: await plan(ports, { dir: repo, ...input }) }
  },
  async 'task.answer'(ports, { repo, ...input }, { caller }) {
    const { answer } = await import('../../core/verbs/answer.ts')
    const { task, asked, input: whole, said } = await answer(ports, { dir: repo, ...input }, asker(caller))
    return { task: taskView(task), asked: askedView(asked), input: whole, ...(said && { said }) }
  },
  async 'task.say'(ports, { repo, ...input }, { caller }) {
    const { say } = await import('../../core/verbs/say.ts')
    return { task: taskView(await say(ports, { dir: repo, ...input }, asker(caller))) }
  },
  async 'task.stop'(ports, { repo, task: name }, { signal }) {
    const { stop } = await import('../../core/verbs/stop.ts')
    const { task, stopped } = await stop(ports, { dir: repo, task: name }, signal)
    return { task: taskView(task), stopped }
  },
  async 'task.checkpoint'(ports, { repo, ...input }, { signal, watch }) {
    const { checkpoint } = await import('../../core/verbs/checkpoint.ts')
    const taken = await checkpoint(ports, { dir: repo, ...input }, signal, watch)
    return {
      created: taken.created,
      checkpoint: stepView({ ...taken.step, skipped: taken.skipped }, taken.files, taken.published),
      ignored: taken.ignored,
      unpublished: taken.task.unpublished,
    }
  },
  async 'task.rewind'(ports, { repo, ...input }, { signal, watch }) {
    const { rewind } = await import('../../core/verbs/rewind.ts')
    const rewound = await rewind(ports, { dir: repo, ...input }, signal, watch)
    const { task, step, kept, published, operation } = rewound
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
    if (!ok && exitCode === undefined)
      throw new AppError('agentFailed', `${agent} failed: ${reason}`, {
        hint: 'Nothing was recorded, as there is no task: look at the files themselves.',
      })
    return { direct: true, agent, ...(exitCode !== undefined && { exitCode }) }
  },
}

async function orderOf(ports: Ports, entry: string) {
  const { requireOrder } = await import('../../core/runs/orders.ts')
  return requireOrder(ports, entry)
}

/** Who answers or speaks, for the log. No agent comes this far. */
const asker = ({ kind }: Caller) => (kind === 'token' ? 'token' : 'user')
