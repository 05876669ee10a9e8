/** The verb answer: answers the question of an agent that nobody was at a terminal for, or shows it. */
import { now } from '../base/time.ts'
import { appError, AppError } from '../model/errors.ts'
import type { AskedQuestion, Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import type { Said } from '../runs/permission.ts'
import { readQuestion } from '../runs/question.ts'
import { requireTask } from '../tasks/find.ts'
import { append } from '../tasks/records.ts'

export interface AnswerInput {
  readonly dir: string
  readonly task?: string | undefined
  /** Left out, the question is only shown. */
  readonly answer?: 'y' | 'n' | 'always' | undefined
  /** The id of the question that is meant, or its beginning: another one is not answered. */
  readonly question?: string | undefined
}

export interface Answered {
  readonly task: Task
  readonly asked: AskedQuestion
  /** All that the tool would be given. */
  readonly input: unknown
  readonly said: Said | undefined
}

const meanings = { y: 'once', n: 'deny', always: 'always' } as const

/** The first answer counts: it is appended only to the log that still has the question open. */
export async function answer(ports: Ports, input: AnswerInput, by: 'user' | 'token'): Promise<Answered> {
  const { task: named } = await requireTask(ports, input.dir, input.task)
  for (;;) {
    const { versions } = await ports.store.readPosition([named.uid])
    const task = (await ports.store.findTaskByUid(named.uid)) ?? named
    const asked = requireAsked(task, input.question)
    const whole = await readQuestion(ports, asked)
    const said = input.answer && meanings[input.answer]
    if (!whole && said !== 'deny') throw unreadable(task)
    if (said === undefined) return { task, asked, input: whole?.input, said }
    const { run, question, inputHash } = asked
    const use = said === 'always' ? { use: inputHash } : {}
    const event = { type: 'run.answered', run, question, said, by, ...use } as const
    try {
      const answered = await append(ports, task.uid, event, now(ports), versions.get(task.uid))
      return { task: answered, asked, input: whole?.input, said }
    } catch (thrown) {
      // The log has grown, perhaps by the answer of somebody else.
      if (appError(thrown).problem !== 'locked') throw thrown
    }
  }
}

function requireAsked({ id, asks }: Task, question: string | undefined): AskedQuestion {
  if (asks && (question === undefined || asks.question.startsWith(question))) return asks
  if (!asks)
    throw new AppError('notFound', `${id} asks nothing.`, {
      hint: `offshoot show ${id} shows how it stands, offshoot audit --task ${id} what was asked and answered.`,
    })
  throw new AppError('notFound', `${id} asks something else by now.`, {
    hint: `offshoot answer ${id} shows the question.`,
  })
}

function unreadable({ id }: Task): AppError {
  return new AppError('notFound', `What ${id} asks about cannot be shown whole, so it can only be denied.`, {
    hint: `offshoot answer ${id} n`,
  })
}
