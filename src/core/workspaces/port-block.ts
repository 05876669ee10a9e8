/**
 * The port block of a task: network ports that no other open task has, in any repository
 * (docs/adr/0024-ports-looked-at-before-the-first-command.md).
 */
import { createHash } from 'node:crypto'
import { now } from '../base/time.ts'
import { AppError } from '../model/errors.ts'
import type { Settings } from '../model/settings.ts'
import { isOpen, type PortBlock, portsOf, type Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { settingsOf } from '../tasks/hold.ts'
import { append } from '../tasks/records.ts'

/** Linux assigns ports from here on to outgoing connections. */
const firstEphemeral = 32_768
const lastPort = 65_535

/**
 * The first free block, searched from a place that the hash of the seed names; undefined when none is left. So a task that
 * is opened again gets its old ports, unless another task has them.
 */
export function chosenBlock(
  { base, size }: Settings['ports'],
  seed: string,
  taken: readonly PortBlock[],
): PortBlock | undefined {
  const end = base < firstEphemeral ? firstEphemeral : lastPort + 1
  const blocks = Math.floor((end - base) / size)
  const begin = createHash('sha256').update(seed).digest().readUInt32BE()
  for (let n = 0; n < blocks; n++) {
    const block = { first: base + ((begin + n) % blocks) * size, count: size }
    if (!taken.some((other) => overlap(block, other))) return block
  }
  return undefined
}

export function overlap(one: PortBlock, other: PortBlock): boolean {
  return one.first < other.first + other.count && other.first < one.first + one.count
}

const lockName = 'port blocks'

/**
 * Chooses a block and runs `work`, which writes it into the task's record, under one lock. Does not check whether a program
 * listens there: that takes longer than a whole start may.
 */
export async function holdBlock<T>(
  ports: Ports,
  settings: Settings['ports'],
  task: Pick<Task, 'uid' | 'repo' | 'id'>,
  work: (block: PortBlock | undefined) => T,
  signal?: AbortSignal,
): Promise<T> {
  if (settings.size === 0) return work(undefined)
  return ports.locks.hold(lockName, { verb: 'start', signal }, async () =>
    work(requireBlock(settings, task, await readTaken(ports, task.uid))),
  )
}

/** The blocks of the other open tasks. */
async function readTaken(ports: Ports, uid: string): Promise<PortBlock[]> {
  const others = (await ports.store.readTasks({ open: true })).filter((task) => task.uid !== uid)
  return others.flatMap(({ portBlock }) => portBlock ?? [])
}

function requireBlock(
  settings: Settings['ports'],
  { repo, id }: Pick<Task, 'repo' | 'id'>,
  taken: readonly PortBlock[],
): PortBlock {
  const block = chosenBlock(settings, `${repo} ${id}`, taken)
  if (block) return block
  throw new AppError(
    'limitReached',
    `No ${settings.size} ports in a row are left from ${settings.base} on.`,
    {
      hint: 'Lower ports.base or ports.size; ports.size: 0 does without them.',
    },
  )
}

/**
 * The task with its ports, for a command that is about to run. Before the first command, a block on which a program listens
 * is replaced by another; from then on the block stays. A closed task has no ports.
 */
export async function withPorts(ports: Ports, task: Task, signal?: AbortSignal): Promise<Task> {
  const known = (await ports.store.findTaskByUid(task.uid)) ?? task
  const settings = (await settingsOf(ports, task)).ports
  if (!isOpen(known)) return task
  const { portBlock } = known
  if (settings.size === 0 || portBlock?.checked) return portBlock ? { ...task, portBlock } : task
  return ports.locks.hold(lockName, { verb: 'run', signal }, async () => {
    const taken = await readTaken(ports, task.uid)
    for (let block = portBlock; ; block = undefined) {
      block ??= requireBlock(settings, task, taken)
      const busy = await ports.sockets.readBusy(portsOf(block))
      if (busy.size > 0) taken.push(block)
      else return recordPorts(ports, task, { ...block, checked: true })
    }
  })
}

async function recordPorts(ports: Ports, task: Task, portBlock: PortBlock): Promise<Task> {
  await append(ports, task.uid, { type: 'ports.given', portBlock }, now(ports))
  return { ...task, portBlock }
}
