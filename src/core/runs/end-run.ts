/** Ends a run: the remaining changes become its last step, and its steps are published. */
import { now } from '../base/time.ts'
import type { TaskEvent } from '../model/events.ts'
import type { Snapshot, StepNote } from '../model/step.ts'
import { atWork, runsOf, type Task } from '../model/task.ts'
import { publishSteps } from '../steps/publish.ts'
import { takeStep } from '../steps/take.ts'
import { requireOpen } from '../tasks/guards.ts'
import { holdTask } from '../tasks/hold.ts'
import { append } from '../tasks/records.ts'
import type { Work } from '../tasks/work.ts'
import { findMovedTo } from '../workspaces/moved.ts'

export interface EndedRun<T> {
  readonly task: Task
  readonly run: string
  readonly value: T
  /** The last step; undefined when nothing had changed. */
  readonly taken: Snapshot | undefined
  /** Its id in the user's repository. */
  readonly published: string | undefined
}

/** What a run took, as `run.ended` keeps it. */
export type Spent = Pick<Extract<TaskEvent, { type: 'run.ended' }>, 'seconds' | 'usage' | 'totals'>

interface RunEnding extends Spent {
  /** Empty when all went well. */
  readonly reason: string
  readonly trigger: Task['trigger'] | null
}

/**
 * Takes the last step of a run, records its end and publishes it. Recovery calls this for a run whose process was killed.
 */
export function endRun(
  work: Work,
  note: Note,
  { reason, trigger, ...spent }: RunEnding,
): Promise<Omit<EndedRun<never>, 'run' | 'value'>> {
  const { ports, repo, task } = work
  return holdTask(ports, task, { verb: 'run' }, async () => {
    const isMoved = (await findMovedTo(work)) !== undefined
    const there = !isMoved && (await ports.files.readKind(task.path)) === 'folder'
    const taken = there
      ? await takeStep(
          { ...work, task: await requireOpen(ports, task), signal: undefined },
          await besides(work, note),
        )
      : undefined
    const given = trigger === null ? {} : { trigger }
    const event = { type: 'run.ended', run: note.run, ok: reason === '', reason, ...given, ...spent } as const
    const ended = await append(ports, task.uid, event, now(ports))
    const done = await publishSteps({ ...work, task: ended, signal: undefined }, true)
    if (!taken?.created) return { task: done, taken: undefined, published: undefined }
    return {
      task: done,
      taken,
      published: (await ports.publishing.readPublished(repo, task)).get(taken.step.n),
    }
  })
}

type Note = StepNote & { readonly run: string }

/** The last step of a command holds all that no tool call has claimed: it names the others that may have written it. */
async function besides({ ports, task: { uid } }: Work, note: Note): Promise<Note> {
  const task = await ports.store.findTaskByUid(uid)
  const others = task ? runsOf(task).filter(({ run }) => run !== note.run) : []
  if (others.length === 0 || note.tool === 'sweep') return note
  return { ...note, summary: `${note.summary} (beside ${atWork(others).who})` }
}
