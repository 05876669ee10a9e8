/** Asks the questions of several computations together. */
import { allEnded } from './concurrency.ts'

export interface Rounds<Question, Answer> {
  /** Runs computations that may ask, all at once, and waits for every one of them to end. */
  runAll<T>(works: readonly (() => Promise<T>)[]): Promise<T[]>
  ask(question: Question): Promise<Answer>
}

interface Waiting<Question, Answer> {
  readonly question: Question
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/**
 * All questions that are open when no computation can go on without an answer are one round. A computation must not wait for
 * another one in any other way, or neither would go on.
 */
export function rounds<Question, Answer>(
  askAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
): Rounds<Question, Answer> {
  let running = 0
  let waiting: Waiting<Question, Answer>[] = []
  const askIfAllWait = () => {
    if (waiting.length === 0 || waiting.length < running) return
    const asked = waiting
    waiting = []
    askAll(asked.map(({ question }) => question)).then(
      (answers) => asked.forEach(({ resolve }, at) => resolve(answers[at] as Answer)),
      (error: unknown) => asked.forEach(({ reject }) => reject(error)),
    )
  }
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } finally {
      running--
      askIfAllWait()
    }
  }
  return {
    runAll(works) {
      running += works.length
      return allEnded(works.map(run))
    },
    ask: (question) =>
      new Promise((resolve, reject) => {
        waiting.push({ question, resolve, reject })
        askIfAllWait()
      }),
  }
}
