import { publishSteps, requireOpen, takeStep } from './checkpoint.ts'
import { appError } from './errors.ts'
import { requireTask } from './list.ts'
import type { CommandCall, Ports, Repo, Snapshot } from './ports.ts'
import { ensureWorkspace } from './recreate.ts'
import { start } from './start.ts'
import { type Task, taskLock } from './task.ts'

export interface RunInput {
  readonly dir: string
  /** Of an open task, or of one to be started. */
  readonly task?: string | undefined
  /** Whether a task that is not there is started. */
  readonly starts: boolean
  readonly argv: readonly string[]
  readonly onOutput?: CommandCall['onOutput']
}

export interface Ran {
  readonly task: Task
  readonly run: string
  readonly exitCode: number
  /** The step that the command made; undefined when it changed nothing. */
  readonly taken: Snapshot | undefined
}

/** Held for as long as a run lives: whoever gets it knows that the run is dead. */
export function runLock(uid: string): string {
  return `run ${uid}`
}

/** Runs any command in the task's workspace, and takes one step of what it did. */
export async function run(ports: Ports, input: RunInput, signal?: AbortSignal): Promise<Ran> {
  const { repo, task: named } = await taskFor(ports, input, signal)
  return ports.locks.hold(runLock(named.uid), { verb: 'run', waitMs: 0, signal }, async () => {
    const id = ports.ids.uid()
    const task = await begin(ports, repo, named, id, input, signal)
    const env = { OFFSHOOT_RUN: id, OFFSHOOT_TASK: task.id, OFFSHOOT_WORKSPACE: task.path }
    const call = { argv: input.argv, cwd: task.path, env, onOutput: input.onOutput }
    try {
      const exitCode = await ports.commands.run(call, signal)
      const reason = exitCode === 0 ? '' : `${input.argv[0]} ended with exit code ${exitCode}`
      const note = { tool: 'command', summary: input.argv.join(' '), run: id }
      const ended = await endRun(ports, repo, task, id, note, reason)
      return { ...ended, run: id, exitCode }
    } catch (error) {
      const note = { tool: 'sweep', summary: appError(error).message, run: id }
      await endRun(ports, repo, task, id, note, appError(error).message)
      throw error
    }
  })
}

async function taskFor(
  ports: Ports,
  input: RunInput,
  signal?: AbortSignal,
): Promise<{ repo: Repo; task: Task }> {
  if (!input.starts) return requireTask(ports, input.dir, input.task)
  const title = input.task === undefined ? input.argv.join(' ') : undefined
  const { task } = await start(ports, { dir: input.dir, task: input.task, title }, signal)
  return requireTask(ports, input.dir, task.id)
}

function begin(
  ports: Ports,
  repo: Repo,
  named: Task,
  run: string,
  input: RunInput,
  signal?: AbortSignal,
): Promise<Task> {
  return ports.locks.hold(taskLock(repo.id, named.id), { verb: 'run', signal }, async () => {
    const { task } = await ensureWorkspace(ports, repo, requireOpen(ports, named), signal)
    await ports.vault.seed(repo, task, signal)
    // What was changed by hand since the last step is not the command's doing.
    await takeStep(ports, repo, task, { tool: 'checkpoint', summary: 'before the run' }, undefined, signal)
    const event = {
      type: 'run.begun',
      run,
      agent: input.argv[0] ?? '',
      owner: ports.processes.self(),
    } as const
    return ports.store.append(task.uid, event, ports.clock.now().toISOString())
  })
}

/** The last step of a run, its end, and its commits on the branch; recovery calls this too. */
export function endRun(
  ports: Ports,
  repo: Repo,
  task: Task,
  run: string,
  note: { tool: string; summary: string; run: string },
  reason: string,
): Promise<{ task: Task; taken: Snapshot | undefined }> {
  return ports.locks.hold(taskLock(repo.id, task.id), { verb: 'run' }, async () => {
    const there = (await ports.files.readKind(task.path)) === 'folder'
    const taken = there ? await takeStep(ports, repo, requireOpen(ports, task), note) : undefined
    const event = { type: 'run.ended', run, ok: reason === '', reason } as const
    const ended = ports.store.append(task.uid, event, ports.clock.now().toISOString())
    return { task: await publishSteps(ports, repo, ended), taken: taken?.created ? taken : undefined }
  })
}
