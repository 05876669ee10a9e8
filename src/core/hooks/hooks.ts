/**
 * Hooks, the commands of the settings that run at certain moments of a task's life. Commands from the repository's own
 * settings may come from a stranger, so they run only once the user trusts exactly these contents.
 */
import { createHash } from 'node:crypto'
import path from 'node:path'
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
import { isTrusted } from './trust.ts'

const taskHooks = ['postStart', 'preRun', 'preAccept', 'postAccept', 'preRemove'] as const
export type TaskHook = (typeof taskHooks)[number]

export interface HookCommand {
  readonly hook: TaskHook | 'agent.adapters'
  readonly command: string
  /** The command comes from the repository's own settings. */
  readonly isForeign: boolean
}

export interface HookRun {
  readonly hook: TaskHook
  readonly ok: boolean
  /** Why it did not run or how it failed; empty when `ok`. */
  readonly why: string
}

/** Every command that is set for a checkout, and every module with an agent, with the hash of its present content. */
export async function readHooks(ports: Ports, checkout: string | null): Promise<HookCommand[]> {
  const own = checkout === null ? undefined : path.join(checkout, '.offshoot.yaml')
  const settings = await ports.settings.readWithOrigin(checkout)
  const commands = taskHooks.flatMap((hook): HookCommand[] => {
    const found = settings.find(({ key }) => key === `hooks.${hook}`)
    const command = typeof found?.value === 'string' ? found.value.trim() : ''
    return command === '' ? [] : [{ hook, command, isForeign: found?.origin === own }]
  })
  const adapters = settings.find(({ key }) => key === 'agent.adapters')
  const isForeign = adapters?.origin === own
  const modules = ((adapters?.value ?? []) as readonly string[]).map(async (file): Promise<HookCommand> => {
    const content = (await ports.files.readText(adapterFile(ports, checkout, file))) ?? ''
    const hash = createHash('sha256').update(content).digest('hex')
    return { hook: 'agent.adapters', command: `${file} (sha256 ${hash})`, isForeign }
  })
  return [...commands, ...(await Promise.all(modules))]
}

/** The path of a module in the settings: relative to the root of the checkout; `~` is the user's home. */
export function adapterFile({ userHome }: Ports, checkout: string | null, file: string): string {
  const expanded = file.startsWith('~/') ? path.join(userHome, file.slice(2)) : file
  return path.resolve(checkout ?? userHome, expanded)
}

interface HookOptions {
  /** The folder that it runs in; by default the workspace. */
  readonly cwd?: string
  readonly onOutput?: CommandCall['onOutput']
}

const notTrusted = 'not trusted: offshoot trust shows what it is, and allows it'

/** Runs the command of that hook; undefined when none is set. */
export async function runTaskHook(
  ports: Ports,
  repo: RepoRecord,
  task: Task,
  hook: TaskHook,
  options: HookOptions = {},
  signal?: AbortSignal,
): Promise<HookRun | undefined> {
  // A broken settings file must not keep the user from accepting or rejecting.
  const hooks = await readHooks(ports, task.origin).catch(() => [])
  const found = hooks.find((one) => one.hook === hook)
  if (!found) return undefined
  if (found.isForeign && !(await isTrusted(ports, repo.id, hooks)))
    return { hook, ok: false, why: notTrusted }
  const { timeoutSeconds } = (await settingsOf(ports, task)).hooks
  const late = AbortSignal.timeout(timeoutSeconds * 1000)
  const isThere = (await ports.files.readKind(task.path)) === 'folder'
  const cell = await openCell(ports, {
    workspace: options.cwd ?? (isThere ? task.path : task.origin),
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
    return { hook, ok: code === 0, why: code === 0 ? '' : `ended with exit code ${code}` }
  } catch (thrown) {
    const error = appError(thrown)
    if (signal?.aborted || (error.kind !== 'cancelled' && error.problem !== 'programMissing')) throw error
    return { hook, ok: false, why: late.aborted ? `took longer than ${timeoutSeconds} s` : error.message }
  } finally {
    await cell.close()
  }
}

/** Runs a `pre…` hook, and throws `policyRefused` when it fails. An untrusted one is skipped, with an event. */
export async function askTaskHook(...args: Parameters<typeof runTaskHook>): Promise<void> {
  const [ports, , { uid }, hook] = args
  const ran = await runTaskHook(...args)
  if (!ran || ran.ok) return
  if (ran.why === notTrusted) {
    await append(ports, uid, { type: 'hook.skipped', hook }, now(ports))
    return
  }
  throw new AppError('policyRefused', `${ran.hook} said no: it ${ran.why}.`, { data: { hook: ran.hook } })
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
