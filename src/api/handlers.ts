/**
 * Action → verb: the one table behind the command line, the library and every other door. Verbs are imported when
 * they are called, so that a command pays only for its own.
 */
import { AppError } from '../core/errors.ts'
import type { Ports, Records } from '../core/ports.ts'
import { type Task, taskView } from '../core/task.ts'
import type { ActionName, Input, Output } from '../protocol/actions.ts'
import { type Emit, onlooker, outputTo, progressTo, stepView, submodulesView } from './views.ts'

interface Handler<In, Out, Needs = Ports> {
  /** Whether the verb changes anything: only then is it preceded by a recovery. */
  readonly writes: boolean
  /** Recovery is a part of the verb. */
  readonly recovers?: true
  /** Only the user may do it, with this command: an agent that tries it is told to ask. */
  readonly forUser?: string
  run(ports: Needs, input: In, signal?: AbortSignal, emit?: Emit): Promise<Out>
}

type HandlerOf<A extends ActionName> = Handler<Input<A>, Output<A>>

const start: HandlerOf<'task.start'> = {
  writes: true,
  async run(ports, { repo, ...input }, signal, emit) {
    const { start } = await import('../core/start.ts')
    const { task, reused, recreated, included, submodules, pointers, setup } = await start(
      ports,
      { dir: repo, onOutput: outputTo(emit), onProgress: progressTo(emit), ...input },
      signal,
    )
    const given = included && {
      copied: [...included.copied],
      linked: [...included.linked],
      secrets: [...included.secrets],
    }
    return {
      task: taskView(task),
      reused,
      recreated,
      ...(given && { included: given }),
      ...submodulesView(submodules),
      ...(pointers && pointers.length > 0 && { pointers: [...pointers] }),
      ...(setup && { setup }),
    }
  },
}

const list: Handler<Input<'task.list'>, Output<'task.list'>, Records> = {
  writes: false,
  async run(records, { repo, ...input }) {
    const { list } = await import('../core/list.ts')
    return { tasks: (await list(records, { dir: repo, ...input })).map((task) => taskView(task)) }
  },
}

const show: HandlerOf<'task.show'> = {
  writes: false,
  async run(ports, { repo, task: name }, signal) {
    const { show } = await import('../core/show.ts')
    const { task, dirty, landed } = await show(ports, { dir: repo, task: name }, signal)
    return { task: taskView(task, dirty, landed) }
  },
}

const prune: HandlerOf<'task.prune'> = {
  writes: true,
  forUser: 'prune',
  async run(ports, { repo, ...input }, signal) {
    const { prune } = await import('../core/prune.ts')
    const { stale, removed, skipped, errors, warnings } = await prune(ports, { dir: repo, ...input }, signal)
    const told = ({ task, why }: { task: Task; why: string }) => ({ task: taskView(task), why })
    return {
      dryRun: input.dryRun ?? false,
      stale: stale.map(told),
      removed: removed.map((one) => ({ ...told(one), operation: one.operation })),
      skipped: skipped.map(told),
      errors: errors.map(({ task, error }) => ({ task: taskView(task), error: error.toJSON() })),
      warnings: [...warnings],
    }
  },
}

/** Actions that look into the records only: a door can answer them without loading the rest. */
export const recordHandlers = { 'task.list': list, 'worktree.list': list } as const

const pool: HandlerOf<'system.pool'> = {
  writes: true,
  async run(ports, { repo, clear }, signal) {
    const { fillPool } = await import('../core/pool.ts')
    return fillPool(ports, { dir: repo, clear }, signal)
  },
}

const trust: HandlerOf<'system.trust'> = {
  writes: true,
  forUser: 'trust',
  async run(ports, { repo, ...input }, signal) {
    const { trust } = await import('../core/trust.ts')
    const { commands, trusted } = await trust(ports, { dir: repo, ...input }, signal)
    return { commands: commands.map(({ hook, command }) => ({ hook, command })), trusted }
  },
}

export const handlers: { readonly [A in ActionName]: HandlerOf<A> } = {
  'system.pool': pool,
  'system.trust': trust,
  'task.start': start,
  'task.list': list,
  'task.show': show,
  'task.checkpoint': {
    writes: true,
    async run(ports, { repo, ...input }, signal) {
      const { checkpoint } = await import('../core/checkpoint.ts')
      const taken = await checkpoint(ports, { dir: repo, ...input }, signal)
      return {
        created: taken.created,
        checkpoint: stepView(taken.step, taken.files, taken.published),
        ignored: taken.ignored,
        unpublished: taken.task.unpublished,
      }
    },
  },
  'task.log': {
    writes: false,
    async run(ports, { repo, task: name }, signal) {
      const { log } = await import('../core/log.ts')
      const { task, steps } = await log(ports, { dir: repo, task: name }, signal)
      return {
        task: taskView(task),
        checkpoints: steps.map((step) => stepView(step, step.files, step.published)),
      }
    },
  },
  'task.diff': {
    writes: false,
    async run(ports, { repo, ...input }, signal) {
      const { diff } = await import('../core/diff.ts')
      const { from, to, files, total, hunks, text } = await diff(ports, { dir: repo, ...input }, signal)
      const { insertions, deletions } = total
      const cut = hunks && { hunks: [...hunks] }
      return { from, to, files: [...files], insertions, deletions, ...cut, diff: text.toString() }
    },
  },
  'task.rewind': {
    writes: true,
    async run(ports, { repo, ...input }, signal) {
      const { rewind } = await import('../core/rewind.ts')
      const { task, step, kept, published, operation } = await rewind(ports, { dir: repo, ...input }, signal)
      return {
        task: taskView(task),
        checkpoint: stepView(step, [], published),
        ...(kept && { kept: kept.n }),
        operation,
      }
    },
  },
  'task.run': {
    writes: true,
    async run(ports, { repo, command, ...input }, signal, emit) {
      const { runAgent } = await import('../core/run-agent.ts')
      const ran = await runAgent(
        ports,
        { dir: repo, argv: command, ...input },
        emit && onlooker(emit),
        signal,
      )
      const { agent, reason, exitCode, conversation, strays, operation } = ran.value
      const task = taskView(ran.task)
      if (reason !== '' && exitCode === undefined) {
        throw new AppError('WT_018', `${agent} failed: ${reason}`, { data: { task, run: ran.run, reason } })
      }
      return {
        task,
        run: ran.run,
        agent,
        ...(exitCode !== undefined && { exitCode }),
        ...(conversation !== undefined && { conversation }),
        strays: [...strays],
        ...(operation !== undefined && { operation }),
        ...(ran.taken && { checkpoint: stepView(ran.taken.step, ran.taken.files, ran.published) }),
      }
    },
  },
  'task.compare': {
    writes: false,
    async run(ports, { repo, ...input }, signal) {
      const { compare } = await import('../core/compare.ts')
      const { rows, diff } = await compare(ports, { dir: repo, ...input }, signal)
      const tasks = rows.map(({ task, files, shared, seconds }) => ({
        task: taskView(task),
        files: [...files],
        shared: [...shared],
        seconds,
      }))
      return { tasks, ...(diff !== undefined && { diff }) }
    },
  },
  'task.stop': {
    writes: true,
    async run(ports, { repo, task: name }, signal) {
      const { stop } = await import('../core/stop.ts')
      const { task, stopped } = await stop(ports, { dir: repo, task: name }, signal)
      return { task: taskView(task), stopped }
    },
  },
  'task.install': {
    writes: true,
    async run(ports, { repo, ...input }, signal) {
      const { install } = await import('../core/install.ts')
      const { task, files, skipped } = await install(ports, { dir: repo, ...input }, signal)
      return { task: taskView(task), files: [...files], skipped: [...skipped] }
    },
  },
  'task.accept': {
    writes: true,
    forUser: 'accept',
    async run(ports, { repo, ...input }, signal, emit) {
      const { accept } = await import('../core/accept.ts')
      const { siblingsOf } = await import('../core/siblings.ts')
      const { task, as, preview, operation, onto, commit, url, hook } = await accept(
        ports,
        { dir: repo, onOutput: outputTo(emit), ...input },
        signal,
      )
      const files = [...preview.files]
      if (input.dryRun) {
        const { clean, conflicts, marked, runsCode, refused } = preview
        const lists = { conflicts: [...conflicts], runsCode: [...runsCode], refused: [...refused] }
        return { task: taskView(task), preview: { clean, files, marked: [...marked], ...lists } }
      }
      const accepted = { as, onto, commit, url, files }
      const others = (await siblingsOf(ports, task)).map(({ id }) => id)
      return {
        task: taskView(task),
        accepted,
        conflicts: [...preview.marked],
        operation,
        ...(hook && { hook }),
        ...(others.length > 0 && { siblings: others }),
      }
    },
  },
  'task.update': {
    writes: true,
    async run(ports, { repo, ...input }, signal) {
      const { update } = await import('../core/update.ts')
      const { task, step, conflicts } = await update(ports, { dir: repo, ...input }, signal)
      return {
        task: taskView(task),
        ...(step && { checkpoint: stepView(step, []) }),
        conflicts: [...conflicts],
      }
    },
  },
  'task.reject': {
    writes: true,
    forUser: 'reject',
    async run(ports, { repo, ...input }, signal, emit) {
      const { reject } = await import('../core/reject.ts')
      const { task, ...rest } = await reject(ports, { dir: repo, onOutput: outputTo(emit), ...input }, signal)
      return { task: taskView(task), ...rest }
    },
  },
  'task.delete': {
    writes: true,
    forUser: 'delete',
    async run(ports, { repo, ...input }, signal, emit) {
      const { reject } = await import('../core/reject.ts')
      const asked = { dir: repo, hide: true, onOutput: outputTo(emit), ...input }
      const { task, ...rest } = await reject(ports, asked, signal)
      return { task: taskView(task), ...rest }
    },
  },
  'task.repair': {
    writes: true,
    // It does so itself, once the records can be read.
    recovers: true,
    async run(ports, { repo, ...input }, signal) {
      const { repair } = await import('../core/repair.ts')
      const { task, mended, repaired, left, rebuilt } = await repair(ports, { dir: repo, ...input }, signal)
      return {
        ...(task && { task: taskView(task), mended }),
        repaired: [...repaired],
        left: [...left],
        ...(rebuilt && { rebuilt: { ...rebuilt, tasks: [...rebuilt.tasks], left: [...rebuilt.left] } }),
      }
    },
  },
  'task.prune': prune,
  'worktree.create': start,
  'worktree.list': list,
  'worktree.show': show,
  'worktree.remove': {
    writes: true,
    forUser: 'worktree remove',
    async run(ports, { repo, ...input }, signal, emit) {
      const { remove } = await import('../core/remove.ts')
      const { task, removed, ignored, branchKept, landed, operation } = await remove(
        ports,
        { dir: repo, onOutput: outputTo(emit), ...input },
        signal,
      )
      return {
        removed,
        task: taskView(task, null, landed),
        branchKept,
        ignored: [...ignored],
        trash: task.trash ?? null,
        operation,
      }
    },
  },
  'worktree.prune': prune,
  'system.doctor': {
    writes: false,
    async run(ports, { repo }, signal) {
      const { doctor } = await import('../core/doctor.ts')
      return { checks: [...(await doctor(ports, { dir: repo }, signal))] }
    },
  },
  'system.disk': {
    writes: false,
    async run(ports, { repo, task }, signal) {
      const { disk } = await import('../core/disk.ts')
      const { workspaces, ...rest } = await disk(ports, { dir: repo, task }, signal)
      return { workspaces: [...workspaces], ...rest }
    },
  },
  'system.recover': {
    writes: false,
    async run(ports, _, signal) {
      const { recover } = await import('../core/recover.ts')
      const { recovered, reported } = await recover(ports, signal)
      return { recovered: [...recovered], reported: [...reported] }
    },
  },
  'system.ops': {
    writes: false,
    async run(ports, { repo }) {
      const { ops } = await import('../core/undo.ts')
      return { operations: await ops(ports, { dir: repo }) }
    },
  },
  'system.undo': {
    writes: true,
    forUser: 'undo',
    async run(ports, { repo, operation }, signal) {
      const { undo } = await import('../core/undo.ts')
      const done = await undo(ports, { dir: repo, operation }, signal)
      const { id, verb } = done.undone
      return {
        task: taskView(done.task),
        undone: id,
        verb,
        operation: done.operation,
        files: [...done.files],
      }
    },
  },
  'system.audit': {
    writes: false,
    async run(ports, { repo, verify: verifies, ...input }) {
      const { audit, verify } = await import('../core/audit.ts')
      if (!verifies) return { events: await audit(ports, { dir: repo, ...input }) }
      const { flaws, ...verified } = await verify(ports)
      return { verified: { ...verified, flaws: [...flaws] } }
    },
  },
  'system.direct': {
    writes: false,
    async run(ports, { repo, command, ...input }, signal, emit) {
      const { runDirect } = await import('../core/run-direct.ts')
      const asked = { dir: repo, starts: true, argv: command, ...input }
      const { agent, end } = await runDirect(ports, asked, emit && onlooker(emit), signal)
      const { ok, reason, exitCode } = end
      if (!ok && exitCode === undefined) throw new AppError('WT_018', `${agent} failed: ${reason}`)
      return { direct: true, agent, ...(exitCode !== undefined && { exitCode }) }
    },
  },
  'system.agents': {
    writes: false,
    async run(ports, { repo }, signal) {
      const { agents } = await import('../core/agents.ts')
      return { agents: await agents(ports, repo, signal) }
    },
  },
  'system.repos': {
    writes: false,
    async run(ports) {
      const { repos } = await import('../core/repos.ts')
      return { repos: await repos(ports) }
    },
  },
  'system.forget': {
    writes: true,
    forUser: 'repos forget',
    async run(ports, { repo }, signal) {
      const { forget } = await import('../core/forget.ts')
      const { path, closed, errors } = await forget(ports, { path: repo }, signal)
      return {
        repo: path,
        closed: closed.map(({ task, operation }) => ({ task: taskView(task), operation })),
        errors: errors.map(({ task, error }) => ({ task: taskView(task), error: error.toJSON() })),
      }
    },
  },
  'system.import': {
    writes: true,
    forUser: 'config import',
    async run(ports, { repo, dryRun = false, ...input }) {
      const { importPeers } = await import('../core/import.ts')
      const { settings, path } = await importPeers(ports, { dir: repo, dryRun, ...input })
      return { settings: [...settings], path, dryRun }
    },
  },
  'system.config': {
    writes: false,
    async run(ports, { repo }) {
      const place = await ports.locate(repo).catch(() => undefined)
      return { settings: await ports.settings.readWithOrigin(place?.checkout ?? null) }
    },
  },
}
