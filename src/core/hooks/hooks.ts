/**
 * Hooks, the commands of the settings that run at certain moments of a task's life. Commands from the repository's own
 * settings may come from a stranger, so they run only once the user trusts exactly these contents.
 */
import { quoted } from '../base/shell-quote.ts'
import { now } from '../base/time.ts'
import type { CommandCall, CommandStdin } from '../model/command.ts'
import { appError, AppError } from '../model/errors.ts'
import type { RepoRecord } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { settingsOf } from '../tasks/hold.ts'
import { append } from '../tasks/records.ts'
import { openCell } from '../workspaces/cell.ts'
import { taskEnvironment } from '../workspaces/environment.ts'
import { withPorts } from '../workspaces/port-block.ts'
import { readNamedFiles } from './files.ts'
import { findUntrusted } from './trust.ts'

const taskHooks = ['postStart', 'preRun', 'preAccept', 'postAccept', 'preRemove'] as const
type TaskHook = (typeof taskHooks)[number]

export interface HookCommand {
  readonly hook: TaskHook
  readonly command: string
  /** The command comes from the repository's own settings. */
  readonly isForeign: boolean
  /** It does not count until the user trusts it. */
  readonly waits: boolean
}

export interface HookRun {
  readonly hook: TaskHook
  readonly ok: boolean
  /** Why it did not run or how it failed; empty when `ok`. */
  readonly why: string
}

/** The outcome of a hook, and whether it was left out because nobody trusts it: then it refuses nothing. */
interface Ran extends HookRun {
  readonly isSkipped: boolean
}

/** The command of each hook that is set for a checkout. */
export async function readHooks(
  ports: Pick<Ports, 'settings'>,
  checkout: string | null,
): Promise<HookCommand[]> {
  const settings = await ports.settings.readWithOrigin(checkout)
  return taskHooks.flatMap((hook): HookCommand[] => {
    const found = settings.find(({ key }) => key === `hooks.${hook}`)
    const waits = found?.waiting !== undefined
    const value = waits ? found.waiting : found?.value
    const command = typeof value === 'string' ? value.trim() : ''
    return command === '' ? [] : [{ hook, command, isForeign: waits || Boolean(found?.isForeign), waits }]
  })
}

interface HookOptions {
  /** The folder that it runs in; by default the workspace. */
  readonly cwd?: string
  readonly onOutput?: CommandCall['onOutput']
}

const notTrusted = 'not trusted: offshoot trust shows what it is, and allows it'

type HookCall = [
  ports: Ports,
  repo: RepoRecord,
  task: Task,
  hook: TaskHook,
  options?: HookOptions,
  signal?: AbortSignal,
]

/** Runs the command of that hook; undefined when none is set. */
export async function runTaskHook(...call: HookCall): Promise<HookRun | undefined> {
  const ran = await attempt(...call)
  return ran && { hook: ran.hook, ok: ran.ok, why: ran.why }
}

async function attempt(...asked: HookCall): Promise<Ran | undefined> {
  const [ports, repo, task, hook, options = {}, signal] = asked
  // A broken settings file must not keep the user from accepting or rejecting, and the repository's not the user's hooks from running.
  const users = () => readHooks(ports, null).catch(() => [])
  const hooks = await readHooks(ports, task.origin).catch(users)
  const found = hooks.find((one) => one.hook === hook)
  if (!found) return undefined
  if (found.waits) return { hook, ok: false, why: notTrusted, isSkipped: true }
  const isThere = (await ports.files.readKind(task.path)) === 'folder'
  const workspace = options.cwd ?? (isThere ? task.path : task.origin)
  const folders = namesPlaces(found.command) ? [workspace, task.origin] : [workspace]
  const changed = found.isForeign ? await findChanged(ports, repo, folders, found.command) : undefined
  // With a changed file an agent must not keep the user from giving its work up.
  if (changed !== undefined) return { hook, ok: false, why: changed, isSkipped: hook === 'preRemove' }
  const { timeoutSeconds } = (await settingsOf(ports, task)).hooks
  const late = AbortSignal.timeout(timeoutSeconds * 1000)
  const cell = await openCell(ports, {
    workspace,
    env: environmentOf(repo, await withPorts(ports, task, signal), hook),
  })
  const call = {
    argv: ['sh', '-c', found.command],
    onStart: (input: CommandStdin) => {
      input.write(`${JSON.stringify({ hook, task: hookTask(task), repo: repo.commonDir })}\n`)
      input.end()
    },
    onOutput: options.onOutput ?? (() => {}),
  }
  try {
    const code = await cell.run(call, signal ? AbortSignal.any([signal, late]) : late)
    return { hook, ok: code === 0, why: code === 0 ? '' : `ended with exit code ${code}`, isSkipped: false }
  } catch (thrown) {
    const error = appError(thrown)
    if (signal?.aborted || (error.kind !== 'cancelled' && error.problem !== 'programMissing')) throw error
    const why = late.aborted ? `took longer than ${timeoutSeconds} s` : error.message
    return { hook, ok: false, why, isSkipped: false }
  } finally {
    await cell.close()
  }
}

/** Why a trusted command does not run: a file that it names is not the one that was trusted, as an agent or a branch changed it. */
export async function findChanged(
  ports: Ports,
  repo: Pick<RepoRecord, 'id'>,
  folders: readonly string[],
  command: string,
): Promise<string | undefined> {
  for (const folder of folders) {
    const [first] = await findUntrusted(ports, repo.id, await readNamedFiles(ports, folder, command))
    if (!first) continue
    return `was not run, because ${first.path} is not as you trusted it: offshoot trust -C ${quoted(folder)} shows it, and asks`
  }
  return undefined
}

/** Whether the command may name files by a variable, as `$ROOT_WORKTREE_PATH`, or from the root: those of the checkout, too. */
function namesPlaces(command: string): boolean {
  return /[$`]|(?:^|[\s"'=])\//.test(command)
}

/** Runs a `pre…` hook, and throws `policyRefused` when it fails. One that was never trusted is skipped, with an event. */
export async function askTaskHook(...call: HookCall): Promise<void> {
  const [ports, , { uid }, hook] = call
  const ran = await attempt(...call)
  if (!ran || ran.ok) return
  if (ran.isSkipped) {
    await append(ports, uid, { type: 'hook.skipped', hook }, now(ports))
    return
  }
  throw new AppError('policyRefused', `${ran.hook} refused: it ${ran.why}.`, {
    hint: `Correct what ${ran.hook} reports, then repeat. offshoot config --show-origin shows the command.`,
    data: { hook: ran.hook },
  })
}

function hookTask({ id, title, path: workspace, branch, base }: Task) {
  return { id, title, path: workspace, branch, base }
}

/** The variables of offshoot, and those that scripts for other tools expect. */
function environmentOf(repo: RepoRecord, task: Task, hook: TaskHook): Record<string, string> {
  return {
    OFFSHOOT_HOOK: hook,
    ...taskEnvironment(task),
    OFFSHOOT_BRANCH: task.branch,
    OFFSHOOT_BASE: task.base.commit,
    OFFSHOOT_REPO: repo.commonDir,
    OFFSHOOT_CHECKOUT: task.origin,
    ROOT_WORKTREE_PATH: task.origin,
    CODEX_SOURCE_TREE_PATH: task.origin,
    CODEX_WORKTREE_PATH: task.path,
    CONDUCTOR_ROOT_PATH: task.origin,
    CONDUCTOR_WORKSPACE_PATH: task.path,
    CONDUCTOR_WORKSPACE_NAME: task.id,
    ...(task.portBlock && { CONDUCTOR_PORT: `${task.portBlock.first}` }),
  }
}
