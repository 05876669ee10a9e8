/** What a queued run is to do, whole: the log has it in short and masked, and a prompt must reach its agent as it was given. */
import { AppError } from '../model/errors.ts'
import { isQueued } from '../model/events.ts'
import { isOpen } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import type { DetachInput } from './detached-words.ts'

export interface Order {
  /** The input of the run, in a task that is there. */
  readonly input: DetachInput
  /** The uid of its task. */
  readonly task: string
}

const prefix = 'queued '
const keyOf = (entry: string) => `${prefix}${entry}`

type Needs = Pick<Ports, 'notes'>

/** To be called before the run is queued in the log: an order without a run harms nobody. */
export async function putOrder({ notes }: Needs, entry: string, order: Order): Promise<void> {
  await notes.put(keyOf(entry), JSON.stringify(order))
}

export async function findOrder({ notes }: Needs, entry: string): Promise<Order | undefined> {
  const text = await notes.find(keyOf(entry))
  return text ? (JSON.parse(text) as Order) : undefined
}

/** The input of the run that waits at that place of the queue. Throws `notFound` for one that does not wait any more. */
export async function requireOrder(
  ports: Pick<Ports, 'notes' | 'store'>,
  entry: string,
): Promise<DetachInput & { readonly entry: string }> {
  const order = await findOrder(ports, entry)
  const task = order && (await ports.store.findTaskByUid(order.task))
  if (order && task && isOpen(task) && isQueued(task, entry)) return { ...order.input, entry }
  throw new AppError('notFound', 'This run is not in the queue any more.', {
    hint: 'offshoot daemon status lists what waits.',
  })
}

/** Takes the prompt out of the records, as the run has it now. */
export async function dropOrder({ notes }: Needs, entry: string): Promise<void> {
  await notes.put(keyOf(entry), '')
}

/** The places in the queue that have an order. */
export async function readOrdered({ notes }: Needs): Promise<string[]> {
  return [...(await notes.readBelow(prefix)).keys()].map((key) => key.slice(prefix.length))
}
