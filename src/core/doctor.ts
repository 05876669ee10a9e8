import { appError } from './errors.ts'
import type { Ports } from './ports.ts'
import { isOpen } from './task.ts'

export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly message: string
  readonly hint: string
}

/** Looks at everything offshoot stands on and mends nothing. */
export async function doctor(ports: Ports, input: { dir: string }, signal?: AbortSignal): Promise<Check[]> {
  const state = await attempt('state folder', () => checkState(ports))
  return [
    await attempt('git', async () => ok('git', `git ${await ports.git.requireVersion(signal)}`)),
    state,
    await attempt('repository', async () => ok('repository', (await ports.locate(input.dir)).commonDir)),
    await attempt('settings', async () => {
      const place = await ports.locate(input.dir).catch(() => undefined)
      await ports.settings.read(place?.checkout ?? null)
      return ok('settings', 'all known and sound')
    }),
    ...(state.status === 'fail' ? [] : await checkTasks(ports)),
  ]
}

function ok(name: string, message: string): Check {
  return { name, status: 'ok', message, hint: '' }
}

async function attempt(name: string, check: () => Promise<Check>): Promise<Check> {
  try {
    return await check()
  } catch (thrown) {
    const error = appError(thrown)
    const where = error.path === undefined ? '' : ` (${error.path})`
    const status = name === 'repository' ? 'warn' : 'fail'
    return { name, status, message: error.message + where, hint: error.hint }
  }
}

const fullAt = 0.9

async function checkState(ports: Ports): Promise<Check> {
  ports.store.readPendingTasks()
  const { free, total } = await ports.files.readFreeSpace(ports.home)
  const used = total === 0 ? 0 : 1 - free / total
  const message = `${ports.home}, ${Math.round(free / 2 ** 20)} MiB free`
  if (used < fullAt) return ok('state folder', message)
  const hint = 'Remove finished tasks: offshoot worktree prune shows which.'
  return {
    name: 'state folder',
    status: 'warn',
    message: `${message}: ${Math.round(used * 100)} % full`,
    hint,
  }
}

async function checkTasks(ports: Ports): Promise<Check[]> {
  const found: Check[] = []
  const repos = new Map(ports.store.readRepos().map((repo) => [repo.id, repo]))
  for (const repo of repos.values()) {
    if ((await ports.files.readKind(repo.commonDir)) === 'folder') continue
    const hint = 'If it was moved, run any offshoot command in its new place.'
    found.push({
      name: `repository ${repo.name}`,
      status: 'warn',
      message: `${repo.commonDir} is gone`,
      hint,
    })
  }
  for (const task of ports.store.readTasks({}).filter(isOpen)) {
    const name = `task ${task.id}`
    if (task.pending && !ports.processes.isAlive(task.pending.owner)) {
      const message = `${task.pending.verb} did not end (process ${task.pending.owner.pid} is dead)`
      found.push({ name, status: 'warn', message, hint: 'offshoot recover finishes it or takes it back.' })
    } else if ((await ports.files.readKind(task.path)) !== 'folder') {
      const hint = `offshoot start ${task.id} makes it again.`
      found.push({ name, status: 'warn', message: `its workspace ${task.path} is gone`, hint })
    }
  }
  return found.length > 0 ? found : [ok('tasks', 'every open task has its workspace')]
}
