/** The verb repair: mends damaged or missing things. */
import { appError } from '../model/errors.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { examine } from '../recovery/examine.ts'
import type { Finding } from '../recovery/judge.ts'
import { mend } from '../recovery/mend.ts'
import { setOldStateAside } from '../recovery/old-state.ts'
import { rebuild, type Rebuilt } from '../recovery/rebuild.ts'
import { relink } from '../recovery/relink.ts'
import { settleAll } from '../recovery/settle.ts'
import { requireTask } from '../tasks/find.ts'
import { requireOpen } from '../tasks/guards.ts'
import { holdTask } from '../tasks/hold.ts'
import { isInWorkspace } from '../tasks/repo.ts'
import { ensureWorkspace, type Mended } from '../workspaces/recreate.ts'

export interface RepairInput {
  readonly dir: string
  readonly task?: string | undefined
  /** Rebuilds the records from the vaults. */
  readonly rebuild?: boolean | undefined
}

type Told = Pick<Finding, 'name' | 'message' | 'hint'>

export interface Repaired {
  /** The task, if only one was repaired. */
  readonly task?: Task | undefined
  readonly mended?: Mended | undefined
  readonly repaired: readonly Told[]
  readonly left: readonly Told[]
  readonly rebuilt?: Rebuilt | undefined
}

/** Repairs one task; without a name, and outside of a workspace, everything. */
export async function repair(ports: Ports, input: RepairInput, signal?: AbortSignal): Promise<Repaired> {
  const rebuilt = input.rebuild ? await rebuild(ports, input.dir, signal) : undefined
  await settleAll(ports, signal)
  if (!rebuilt && (input.task !== undefined || (await isInWorkspace(ports, input.dir))))
    return repairTask(ports, input, signal)
  const aside = await setOldStateAside(ports)
  const moved = await relink(ports, input.dir, signal)
  const look = () => examine(ports, input.dir, { deep: true }, signal)
  const { repaired, left } = await mendAll(ports, look, signal)
  return {
    repaired: [...aside.repaired, ...moved, ...repaired],
    left: [...aside.left, ...left],
    ...(rebuilt && { rebuilt }),
  }
}

async function repairTask(ports: Ports, input: RepairInput, signal?: AbortSignal): Promise<Repaired> {
  const { repo, task: named } = await requireTask(ports, input.dir, input.task)
  const own = ({ name, mend: how }: Finding) =>
    name === `vault ${repo.name}` ||
    (how !== undefined && 'task' in how && how.task.uid === named.uid && how.do !== 'workspace')
  const look = async () =>
    (await examine(ports, input.dir, { repos: new Set([repo.id]) }, signal)).filter(own)
  const { repaired, left } = await mendAll(ports, look, signal)
  const { task, mended } = await holdTask(ports, named, { verb: 'repair', signal }, async () =>
    ensureWorkspace({ ports, repo, task: await requireOpen(ports, named), signal }),
  )
  const whole = mended === 'sound' && repaired.length > 0 ? 'mended' : mended
  return { task, mended: whole, repaired, left }
}

/** Scans twice: objects missing in a damaged vault are found only once the vault is mended. */
async function mendAll(
  ports: Ports,
  look: () => Promise<Finding[]>,
  signal?: AbortSignal,
): Promise<{ repaired: Told[]; left: Told[] }> {
  const found = await look()
  const vaults = found.filter(({ mend: how }) => how?.do === 'vault')
  const first = await mendEach(ports, vaults, signal)
  const then = await mendEach(ports, first.repaired.length > 0 ? await look() : found, signal)
  return { repaired: [...first.repaired, ...then.repaired], left: then.left }
}

/**
 * Mends one finding after the other; a failure does not stop the rest. Every finding is of a repository or vault that was
 * read completely: one that could not be read has no findings to mend.
 */
async function mendEach(
  ports: Ports,
  findings: readonly Finding[],
  signal?: AbortSignal,
): Promise<{ repaired: Told[]; left: Told[] }> {
  const [repaired, left]: [Told[], Told[]] = [[], []]
  // One adoption brings back all missing tasks of a repository.
  const adopted = new Set<string>()
  for (const { name, message, hint, mend: how } of findings) {
    signal?.throwIfAborted()
    if (!how) left.push({ name, message, hint })
    else if (how.do === 'adopt' && adopted.has(how.repo)) repaired.push({ name, message, hint: '' })
    else {
      const error = await mend(ports, how, signal).then(() => undefined, appError)
      if (error?.kind === 'cancelled' || error?.problem === 'diskFull') throw error
      if (error) left.push({ name, message: `${message}: ${error.message}`, hint: error.hint })
      else repaired.push({ name, message, hint: '' })
      if (how.do === 'adopt' && !error) adopted.add(how.repo)
    }
  }
  return { repaired, left }
}
