/** Keeps a question of an agent in the log while nobody is at a terminal, and waits for its answer. */
import path from 'node:path'
import { pause } from '../base/pause.ts'
import { findDuration, now } from '../base/time.ts'
import { appError } from '../model/errors.ts'
import { questionFile } from '../model/layout.ts'
import type { AskedQuestion } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { append } from '../tasks/records.ts'
import type { RunTold } from './attend.ts'
import type { OpenQuestion, Said } from './permission.ts'
import type { ActiveRun } from './run.ts'
import { inputHash } from './whole-input.ts'

/** How often a waiting run looks at the log. */
const lookMs = 100

/** How long a question waits, in milliseconds. `auto` is no time: who detaches a run says how long. */
export function waitOf({ askTimeout }: { readonly askTimeout: string }): number {
  return findDuration(askTimeout) ?? 0
}

/**
 * Keeps the question and waits for the first answer; undefined when there was none in time, or when the run is stopped. That
 * nobody answered is an answer, too: one that comes a moment later finds the question gone.
 */
export async function keepQuestion(
  run: ActiveRun,
  { whole, ...open }: OpenQuestion,
  waitMs: number,
  tell: (event: RunTold) => void,
): Promise<Said | undefined> {
  const { ports, task, id } = run
  const { tool, summary, call, reason } = open
  const question = ports.ids.uid()
  // The log masks secrets and cuts long texts; the person who answers has to see all of it.
  const file = questionFile(ports.home, id)
  await ports.files.makeFolder(path.dirname(file), 0o700)
  await ports.files.write(file, JSON.stringify({ tool, input: whole }), 0o600)
  const until = new Date(ports.clock.now().getTime() + waitMs).toISOString()
  const { seq } = await ports.store.readPosition([])
  const asked = { type: 'run.asked', run: id, question, until, ...open } as const
  await append(ports, task.uid, asked, now(ports))
  tell({ event: 'waiting', question, tool, summary, call, reason, until })
  return waitForAnswer(run, question, seq, performance.now() + waitMs)
}

/** Looks at the log until it has an answer. The position alone tells whether there is anything new to read. */
async function waitForAnswer(
  { ports, task: { uid }, id, signal }: ActiveRun,
  question: string,
  after: number,
  deadline: number,
): Promise<Said | undefined> {
  for (let seen = -1; ; ) {
    signal?.throwIfAborted()
    const isLate = performance.now() >= deadline
    const { seq, versions } = await ports.store.readPosition([uid])
    if (seq !== seen) {
      seen = seq
      const events = await ports.store.readEvents({ uid, after, types: ['run.answered', 'run.stopping'] })
      for (const { event } of events) {
        if (event.type === 'run.stopping' && event.run === id) return undefined
        if (event.type === 'run.answered' && event.question === question)
          return event.by === 'nobody' ? undefined : event.said
      }
    }
    if (isLate) {
      const none = { type: 'run.answered', run: id, question, said: 'deny', by: 'nobody' } as const
      const isTold = await append(ports, uid, none, now(ports), versions.get(uid)).then(
        () => true,
        (thrown: unknown) => {
          // Somebody else wrote first, perhaps the answer: look again.
          if (appError(thrown).problem === 'locked') return false
          throw thrown
        },
      )
      if (isTold) return undefined
    } else await pause(lookMs, signal)
  }
}

/** All that a question is about; undefined when it cannot be read, or is not what the log says it is. */
export async function readQuestion(
  { files, home }: Pick<Ports, 'files' | 'home'>,
  asks: AskedQuestion,
): Promise<{ readonly input: unknown } | undefined> {
  const text = await files.readText(questionFile(home, asks.run))
  try {
    const { tool, input } = JSON.parse(text ?? '') as { tool: string; input: unknown }
    return tool === asks.tool && inputHash(tool, input) === asks.inputHash ? { input } : undefined
  } catch {
    return undefined
  }
}
