/** The verb audit: shows the sealed log of events, and verifies it (docs/adr/0020-the-log-is-sealed.md). */
import { AppError } from '../model/errors.ts'
import type { StoredEvent, TaskEvent } from '../model/events.ts'
import { redacted } from '../model/redact.ts'
import { type Flaw, flawsOf } from '../model/seal.ts'
import type { Task } from '../model/task.ts'
import type { Records } from '../ports/index.ts'
import { readKnown } from '../tasks/known.ts'
import { findRepo } from '../tasks/repo.ts'

export interface AuditInput {
  readonly dir: string
  readonly task?: string | undefined
  /** Only events of that time or later. */
  readonly since?: string | undefined
  /** Only failures, operations that were taken back, and auto-reverts. */
  readonly failures?: boolean | undefined
}

export interface AuditEntry {
  readonly seq: number
  readonly at: string
  readonly task: string
  readonly uid: string
  readonly what: TaskEvent['type']
  /** The process or the agent. */
  readonly by?: string | undefined
  readonly commit?: string | undefined
  readonly operation?: string | undefined
  readonly detail: string
  /** Of a decision: the input of the tool, masked and cut where it is long, and the hash of the whole. */
  readonly input?: string | undefined
  readonly inputHash?: string | undefined
}

/** The events, oldest first: of the repository that `dir` is in, or outside of any, of all. */
export async function audit(records: Records, input: AuditInput): Promise<AuditEntry[]> {
  const repo = (await findRepo(records, input.dir).catch(() => undefined))?.repo
  const agents = new Map<string, string>()
  const events = await records.store.readEvents({})
  const tasks = await readKnown(
    records.store,
    events.map(({ uid }) => uid),
  )
  const entries = events.flatMap((stored) => {
    const { event } = stored
    if (event.type === 'run.begun') agents.set(event.run, event.agent)
    const task = tasks.get(stored.uid)
    if (!task || (repo && task.repo !== repo.id)) return []
    if (input.task !== undefined && subject(event, task) !== input.task) return []
    if (input.since !== undefined && stored.at < input.since) return []
    if (input.failures && !isFailure(event)) return []
    return [entry(stored, task, agents)]
  })
  if (
    entries.length === 0 &&
    input.task !== undefined &&
    ![...tasks.values()].some((t) => t.id === input.task)
  )
    throw new AppError('noSuchTask', `The log has no task ${input.task}.`)
  return entries
}

/** Checks that the log is as it was written. `head` is the last seal: a copy of it elsewhere proves the whole log. */
export async function verify({
  store,
}: Records): Promise<{ entries: number; head: string; flaws: readonly Flaw[] }> {
  const position = await store.readPosition()
  return { entries: position.seq, ...(await flawsOf(store.readLog(), position)) }
}

function isFailure(event: TaskEvent): boolean {
  switch (event.type) {
    case 'run.ended':
      return !event.ok
    case 'run.unqueued':
      return event.error !== undefined
    case 'start.undone':
    case 'recreate.undone':
    case 'publish.undone':
    case 'operation.undone':
    case 'checkpoint.failed':
    case 'reverted':
    case 'revert.failed':
      return true
    default:
      return false
  }
}

function entry(stored: StoredEvent, task: Task, agents: ReadonlyMap<string, string>): AuditEntry {
  const { seq, at, uid, event } = stored
  return {
    seq,
    at,
    task: subject(event, task),
    uid,
    what: event.type,
    by: by(stored, agents),
    commit: commit(event),
    operation: operation(event),
    detail: redacted(detail(event)),
    ...(event.type === 'run.decided' && { input: event.input, inputHash: event.inputHash }),
  }
}

/** The id of the task that the event is about; empty for an orphan that no task had. */
function subject(event: TaskEvent, { id }: Task): string {
  return event.type === 'orphan.found' ? (event.of ?? '') : id
}

/** The agent for events of its run; else the process. */
function by({ event, pid }: StoredEvent, agents: ReadonlyMap<string, string>): string | undefined {
  if (event.type === 'run.decided') return event.by
  if (event.type === 'run.answered' || event.type === 'run.said')
    return pid === undefined || event.by === 'nobody' ? event.by : `${event.by}, process ${pid}`
  const agent = 'run' in event && event.type !== 'run.stopping' ? agents.get(event.run ?? '') : undefined
  // Events that were rebuilt from a vault have no pid.
  const told = pid ?? (('owner' in event && event.owner.pid) || undefined)
  return agent ?? (told === undefined ? undefined : `process ${told}`)
}

function commit(event: TaskEvent): string | undefined {
  if (event.type === 'start.begun') return event.task.base.commit
  if (event.type === 'publish.done') return event.tip
  return 'commit' in event ? event.commit : undefined
}

function operation(event: TaskEvent): string | undefined {
  if (event.type === 'reverted') return event.operation
  return event.type.startsWith('operation.') && 'id' in event ? event.id : undefined
}

function detail(event: TaskEvent): string {
  switch (event.type) {
    case 'start.begun':
      return `${event.task.isolation} ${event.task.path}, branch ${event.task.branch}`
    case 'included':
      return [
        `copied ${event.count}`,
        ...event.linked.map((name) => `linked ${name}`),
        ...event.secrets,
      ].join(', ')
    case 'installed':
      return event.files.join(', ')
    case 'checkpoint':
      return `step ${event.n}: ${event.summary === '' ? event.tool : `${event.tool} - ${event.summary}`}`
    case 'run.begun':
      return `run ${event.run}`
    case 'run.queued':
      return `${event.agent}, priority ${event.priority}: ${event.what}`
    case 'run.ended':
      return event.ok ? `run ${event.run}` : `run ${event.run}: ${event.reason}`
    case 'run.conversation':
      return `${event.agent} ${event.conversation}`
    case 'run.decided':
      return `${event.allow ? 'allowed' : 'denied'} ${event.tool} ${event.summary}: ${event.reason}`
    case 'run.asked':
      return `${event.tool} ${event.summary}: ${event.reason}`
    case 'run.answered':
      return event.by === 'nobody' ? 'nobody answered in time' : event.said
    case 'run.said':
      return event.text
    case 'run.heard':
      return String(event.count)
    case 'run.strayed':
      return event.changes.map(({ what }) => what).join(', ')
    case 'run.wanted':
      return event.verb
    case 'publish.done':
      return `branch ${event.branch}${event.leftOut === undefined ? '' : `: ${event.leftOut}`}`
    case 'operation.begun':
      return event.undoes === undefined ? event.verb : `${event.verb} of ${event.undoes}`
    case 'reverted':
    case 'revert.failed':
      return `${event.trigger}: ${event.reason}`
    case 'hook.skipped':
      return `${event.hook} is not trusted`
    case 'orphan.found':
      return `${event.kind} ${event.path}${event.branch === null ? '' : `, branch ${event.branch}`}`
    case 'mended':
      return event.what
    case 'trash.slimmed':
      return `${event.bytes} bytes`
    default:
      return 'reason' in event ? event.reason : ''
  }
}
