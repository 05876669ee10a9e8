/** The verb run: runs an agent or a command in a task. */
import { quoted } from '../base/shell-quote.ts'
import type { Watch } from '../base/watch.ts'
import type { CommandCall } from '../model/command.ts'
import { AppError, appError } from '../model/errors.ts'
import { commandLine } from '../model/redact.ts'
import type { Settings } from '../model/settings.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { recoverMeanwhile } from '../recovery/periodic.ts'
import { requireTrustedSettings } from '../runs/agent-settings.ts'
import { type AgentOrder, type Onlooker, type RunValue, workInTask } from '../runs/loop.ts'
import { type Notifier, openNotifier } from '../runs/notify.ts'
import { waitOf } from '../runs/question.ts'
import { inTurn, placesOf } from '../runs/queue.ts'
import { labelOf, planRun } from '../runs/plan-run.ts'
import type { RunInput } from '../runs/run-input.ts'
import type { EndedRun } from '../runs/end-run.ts'
import { requireResumed, requireStarted, type RunTask } from '../runs/run-task.ts'
import { type ActiveRun, withRun } from '../runs/run.ts'
import { inShort } from '../runs/wrap.ts'

/** Runs an agent, or any command, in the workspace of a task: a policy before each tool call, a step after it. */
export async function runAgent(
  ports: Ports,
  input: RunInput,
  onlooker?: Onlooker,
  signal: AbortSignal = new AbortController().signal,
  watch?: Watch,
): Promise<EndedRun<RunValue>> {
  const resumed = input.resume ? await requireResumed(ports, input) : undefined
  const { settings, agent } = await planRun(ports, input, resumed?.task)
  const { policy } = settings
  const onOutput = onlooker && outputTo(onlooker)
  const found = resumed ?? (await requireStarted(ports, input, onOutput, signal, watch))
  const isAgent = input.prompt !== undefined
  const notify = isAgent ? await notifierOf(ports, found, settings, onlooker) : undefined
  // A command of the user's own, as `exec` runs it; an agent that is a command has a prompt.
  const exec = input.create || isAgent ? undefined : input.argv
  const order: AgentOrder = {
    agent,
    policy,
    limits: settings.limits,
    prompt: input.prompt ?? '',
    argv: input.argv,
    resume: input.resume,
    // A user who runs a command with exec, such as tests, sees its failure, so auto-revert leaves the task.
    mayFail: exec !== undefined,
    onlooker,
    ask: input.autoContinue ? undefined : onlooker?.ask,
    askMs: input.autoContinue ? 0 : waitOf(policy),
    notify,
  }
  const label = labelOf(agent, input)
  let hasBegun = false
  const running = async () => {
    await requireTrustedSettings(ports, found, agent)
    const work = async (run: ActiveRun) => {
      hasBegun = true
      // Again: the run may just have made a missing workspace from its last step.
      await requireTrustedSettings(ports, run, agent)
      return workInTask(run, order, signal)
    }
    return withRun(ports, found, label, work, {
      command: exec && inShort(commandLine(exec)),
      entry: input.entry,
      meanwhile: recoverMeanwhile,
      onOutput,
      signal,
    })
  }
  if (exec) return running()
  const places = placesOf(found.repo, label, settings.limits)
  const onQueued = (limit: number) => onlooker?.tell({ event: 'queued', limit })
  try {
    const ended = await inTurn(ports, places, onQueued, running, signal)
    await notify?.ended(ended.task, ended.value.reason)
    return ended
  } catch (thrown) {
    if (signal.aborted) throw hasBegun ? thrown : cancelledError(found.task, thrown)
    const left = hasBegun ? await ports.store.findTaskByUid(found.task.uid) : undefined
    if (left) await notify?.ended(left, appError(thrown).message)
    throw thrown
  }
}

/** Undefined when the user wants no notification. */
async function notifierOf(
  ports: Ports,
  { repo, task }: RunTask,
  { notify: { how } }: Settings,
  onlooker: Onlooker | undefined,
): Promise<Notifier | undefined> {
  if (how.length === 0) return undefined
  return openNotifier(ports, { how, checkout: task.origin, repo }, (event) => onlooker?.tell(event))
}

/** The task that the run would have worked in stays, also if it was made for the run. */
function cancelledError({ id }: Task, cause: unknown): AppError {
  const hint = `The task is there: offshoot show ${quoted(id)}`
  return new AppError('cancelled', 'Cancelled before the run began.', { hint, cause })
}

/** Passes the output of a hook on like the output of a command. */
function outputTo(onlooker: Onlooker): CommandCall['onOutput'] {
  return (stream, text) => onlooker.tell({ event: 'output', stream, text })
}
