/**
 * Ports of the machine that the servers of a task may listen on: a block of its own for as long as the task is open, whatever
 * repository it is in.
 */
import { createHash } from 'node:crypto'
import { AppError } from './errors.ts'
import { settingsOf } from './hold.ts'
import type { Ports } from './ports.ts'
import type { Settings } from './settings.ts'
import { isOpen, type PortBlock, portsOf, type Task } from './task.ts'

/** From here on the system hands ports out by itself. */
const firstEphemeral = 32_768
const lastPort = 65_535

/**
 * The block of that seed, or the next one after it that no other has; undefined when none is left. One seed has one place
 * to begin at: a task that comes back finds its old ports, unless somebody took them.
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

/** Runs `work`, which notes the block in the task's record, while nobody else can choose one. */
export async function holdBlock<T>(
  ports: Ports,
  settings: Settings['ports'],
  task: Pick<Task, 'repo' | 'id'>,
  work: (block: PortBlock | undefined) => T,
  signal?: AbortSignal,
): Promise<T> {
  if (settings.size === 0) return work(undefined)
  return ports.locks.hold('port blocks', { verb: 'start', signal }, async () => {
    const taken = ports.store.readTasks({ open: true }).flatMap(({ portBlock }) => portBlock ?? [])
    for (;;) {
      const block = chosenBlock(settings, `${task.repo} ${task.id}`, taken)
      if (!block) throw noneLeft(settings)
      const busy = await ports.sockets.readBusy(portsOf(block))
      if (busy.size === 0) return work(block)
      taken.push(block)
    }
  })
}

function noneLeft({ base, size }: Settings['ports']): AppError {
  return new AppError('WT_003', `No ${size} ports in a row are left from ${base} on.`, {
    hint: 'Lower ports.base or ports.size; ports.size: 0 does without them.',
  })
}

/** The task with its ports: one that was closed has given them back. */
export async function withPorts(ports: Ports, task: Task, signal?: AbortSignal): Promise<Task> {
  const known = ports.store.findTaskByUid(task.uid) ?? task
  if (known.portBlock) return { ...task, portBlock: known.portBlock }
  if (!isOpen(known)) return task
  const settings = (await settingsOf(ports, task)).ports
  return holdBlock(
    ports,
    settings,
    task,
    (portBlock) => {
      if (!portBlock) return task
      const at = ports.clock.now().toISOString()
      ports.store.append(task.uid, { type: 'ports.given', portBlock }, at)
      return { ...task, portBlock }
    },
    signal,
  )
}
