/** The verb doctor: checks everything that offshoot depends on, and changes nothing. */
import { quoted } from '../base/shell-quote.ts'
import { day } from '../base/time.ts'
import { appError } from '../model/errors.ts'
import { defaultSettings, type Settings } from '../model/settings.ts'
import type { Ports } from '../ports/index.ts'
import { examine } from '../recovery/examine.ts'
import type { Finding } from '../recovery/judge.ts'
import { readOldState } from '../recovery/old-state.ts'
import { findMoved } from '../recovery/relink.ts'
import { isInWorkspace } from '../tasks/repo.ts'
import { diskText } from '../model/disk-use.ts'
import { readUseAt } from '../trash/disk-use.ts'
import { usedPercent } from '../trash/disk-warning.ts'

export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly message: string
  readonly hint: string
  /** Why it matters. */
  readonly why?: string | undefined
  readonly verdict?: Finding['verdict'] | undefined
}

/** Checks the machine, the state folder, the settings, the records and all repositories. */
export async function doctor(ports: Ports, input: { dir: string }, signal?: AbortSignal): Promise<Check[]> {
  const state = await attempt('state folder', () => checkState(ports, input.dir))
  const records = hasFailed(state) ? [] : await attempt('records', async () => [await checkRecords(ports)])
  const usable = !hasFailed([...state, ...records])
  return [
    ...(await attempt('git', async () => [ok('git', `git ${await ports.git.requireVersion(signal)}`)])),
    ...state,
    ...records,
    ...(usable ? await attempt('clock', async () => [await checkClock(ports, input.dir)]) : []),
    ...(await attempt('repository', async () => [await checkRepository(ports, input.dir, usable, signal)])),
    ...(await attempt('settings', () => checkSettings(ports, input.dir))),
    ...(await checkOldState(ports, input.dir)),
    ...(usable ? await attempt('disk', async () => [await checkDisk(ports, input.dir, signal)]) : []),
    ...(usable ? await attempt('tasks', () => checkTasks(ports, input.dir, signal)) : []),
  ]
}

function ok(name: string, message: string): Check {
  return { name, status: 'ok', message, hint: '' }
}

const hasFailed = (checks: readonly Check[]) => checks.some(({ status }) => status === 'fail')

/** The consequence of a check that could not run. */
const whys = {
  git: 'Whatever makes, keeps or lands work needs it.',
  'state folder': 'Without the records no task is found; the vaults still have every step.',
  records: 'Tasks may not be listed, or not be right.',
  clock: 'Whether something is old enough to go for good is told by it.',
  repository: 'Tasks are started, found and landed from within one.',
  settings: 'What reads them is refused until they are right.',
  disk: 'What the tasks cost cannot be told; nothing else depends on it.',
  tasks: 'Whether anything is wrong with them cannot be told.',
} as const

async function attempt(name: keyof typeof whys, check: () => Promise<Check[]>): Promise<Check[]> {
  try {
    return await check()
  } catch (thrown) {
    const error = appError(thrown)
    if (error.kind === 'cancelled') throw thrown
    const where = error.path === undefined ? '' : ` (${error.path})`
    const status = name === 'repository' || name === 'disk' ? 'warn' : 'fail'
    return [{ name, status, message: error.message + where, why: whys[name], hint: error.hint }]
  }
}

/** The settings that hold in `dir`; the defaults if they are wrong, which another check reports. */
async function settingsAt(ports: Pick<Ports, 'locate' | 'settings'>, dir: string): Promise<Settings> {
  const place = await ports.locate(dir).catch(() => undefined)
  return ports.settings.read(place?.checkout ?? null).catch(() => defaultSettings)
}

async function checkSettings(ports: Pick<Ports, 'locate' | 'settings'>, dir: string): Promise<Check[]> {
  const place = await ports.locate(dir).catch(() => undefined)
  await ports.settings.read(place?.checkout ?? null)
  const unknown = ports.settings.readUnknownVariables()
  if (unknown.length === 0) return [ok('settings', 'all known and sound')]
  return unknown.map(({ name, nearest }) => ({
    name: 'settings',
    status: 'warn',
    message: `unknown setting ${name}`,
    why: 'It has no effect.',
    hint: nearest ? `Did you mean ${nearest}?` : 'offshoot config shows the settings.',
  }))
}

async function checkState(ports: Ports, dir: string): Promise<Check[]> {
  await ports.store.readPendingTasks()
  const { warnPercent } = (await settingsAt(ports, dir)).disk
  const space = await ports.disk.readFreeSpace(ports.home)
  const used = usedPercent(space)
  const message = `${ports.home}, ${Math.round(space.free / 2 ** 20)} MiB free`
  const found: Omit<Check, 'name' | 'status'>[] = []
  if (used >= warnPercent)
    found.push({
      message: `${message}: ${used} % full (disk.warnPercent is ${warnPercent})`,
      why: 'On a full disk the next step fails with an error; recorded steps are not lost.',
      hint: 'offshoot prune --dry-run shows what can go.',
    })
  if (space.network)
    found.push({
      message: `${message}, on a network file system`,
      why: 'The records do without a write-ahead log there, and locks between machines are only as good as the server.',
      hint: 'Name a folder on a local disk in OFFSHOOT_HOME.',
    })
  if (found.length === 0) return [ok('state folder', message)]
  return found.map((finding) => ({ name: 'state folder', status: 'warn', ...finding }))
}

async function checkRecords({ store }: Pick<Ports, 'store'>): Promise<Check> {
  const [fault] = await store.inspect()
  if (fault === undefined) return ok('records', 'the database is sound')
  return {
    name: 'records',
    status: 'fail',
    message: `the database is damaged: ${fault.what}`,
    why: 'Tasks may be missing from lists, or shown wrongly.',
    hint: 'offshoot repair --rebuild sets it aside and brings the records back from the vaults.',
  }
}

/** Clocks of other machines may be a little ahead. */
const toleratedMs = 5 * 60_000

async function checkClock(ports: Ports, dir: string): Promise<Check> {
  const { store, clock } = ports
  const [last] = await store.readEvents({ after: (await store.readPosition([])).seq - 1 })
  const now = clock.now()
  const ahead = last ? now.getTime() - Date.parse(last.at) : 0
  const { keepDays } = (await settingsAt(ports, dir)).trash
  const isLate = keepDays > 0 && ahead > keepDays * day
  if (!last || (ahead >= -toleratedMs && !isLate)) return ok('clock', now.toISOString())
  return {
    name: 'clock',
    status: 'warn',
    message: `the last record is of ${last.at}, and now it is ${now.toISOString()}`,
    why: isLate
      ? 'Either nothing was done for so long, or the clock is ahead: to prune it is time to let all of the trash go.'
      : 'The clock went back. Ages are wrong until then; nothing expires by one look at the clock.',
    hint: isLate
      ? 'If the clock is ahead, set it before you prune (date shows it).'
      : 'Set the clock (date shows it).',
  }
}

async function checkRepository(
  ports: Ports,
  dir: string,
  usable: boolean,
  signal?: AbortSignal,
): Promise<Check> {
  const moved = usable ? await findMoved(ports, dir, signal) : undefined
  const { commonDir } = await ports.locate(dir)
  if (!moved) return ok('repository', commonDir)
  return {
    name: 'repository',
    status: 'warn',
    message: `${commonDir} was moved here from ${moved.record.commonDir}`,
    why: 'Its tasks are not found until offshoot knows the new place.',
    hint: 'offshoot repair records the new place.',
  }
}

async function checkDisk(ports: Ports, dir: string, signal?: AbortSignal): Promise<Check> {
  // Another check has reported that there is no repository.
  const isRepo = await ports.locate(dir).catch(() => undefined)
  return ok(
    'disk',
    isRepo ? diskText(await readUseAt(ports, dir, signal)) : 'no repository, nothing to measure',
  )
}

async function checkOldState(ports: Ports, dir: string): Promise<Check[]> {
  // Inside a workspace the command would mean that task alone.
  const at = (await isInWorkspace(ports, dir)) ? ` -C ${quoted(ports.home)}` : ''
  return (await readOldState(ports).catch(() => [])).map((name) => ({
    name: 'old state',
    status: 'warn',
    message: `${name} in ${ports.home} is not of this version`,
    why: 'This version does not read it, and deletes nothing of it.',
    hint: `offshoot repair${at} sets it aside.`,
  }))
}

async function checkTasks(ports: Ports, dir: string, signal?: AbortSignal): Promise<Check[]> {
  const found = await examine(ports, dir, { deep: true }, signal)
  if (found.length === 0) return [ok('tasks', 'every open task has its workspace')]
  return found.map(({ name, status, message, hint, why, verdict }) => ({
    name,
    status,
    message,
    hint,
    why,
    verdict,
  }))
}
