/** What must hold after each action of a history, told from what has been done so far. */
import path from 'node:path'
import type { Operation } from '../../src/core/model/operation.ts'
import { isOpen, type Task } from '../../src/core/model/task.ts'
import type { Tree } from '../faults/folder-tree.ts'
import { explained, hasLanded, isBack, isKept, isWhole, settled } from './history-checks.ts'
import type { SimFixture } from './sim-fixture.ts'
import type { VerbRequest } from './history-actions.ts'
import type { Outcome } from './executor.ts'
import { inVault, readOperation, type Snapshot } from './quick-snapshot.ts'

export interface Executed {
  readonly request: VerbRequest
  readonly outcome: Outcome
}

/** Failures that are no answer to what was asked for. */
const notAnAnswer = /^WT_(008|014|020|021|022) /

export class Model {
  readonly #fixture: SimFixture
  /** What each operation found and left, where nobody else was at work meanwhile. */
  readonly #done = new Map<string, { before: Snapshot; after: Snapshot }>()
  /** Operations that nobody asked for. */
  readonly #byItself = new Set<string>()
  /** Workspaces as they were at the start, of tasks that have taken nothing in and landed nothing since. */
  readonly #first = new Map<string, Tree>()
  /** Tasks whose agent has broken more than files. */
  readonly #rough = new Set<string>()

  constructor(fixture: SimFixture) {
    this.#fixture = fixture
  }

  rough(task: Task | undefined): void {
    if (task) this.#rough.add(task.uid)
  }

  /** Locks that the user has left. */
  theirs: readonly string[] = []

  /**
   * What is wrong after verbs. `half`: one of them, or one before, was hit, and nobody has recovered; `alone`: nothing
   * was half-made before either.
   */
  async check(
    before: Snapshot,
    after: Snapshot,
    executed: readonly Executed[],
    half: boolean,
    alone: boolean,
  ): Promise<string[]> {
    const done = await this.#newOperations(before, after)
    const ran = executed.some(({ request }) => request.verb === 'run')
    // Also for a while: what was half-made may come back, and leave again.
    const inCheckout =
      done.some(({ head }) => head !== undefined) ||
      [...before.tasks, ...after.tasks].some((task) => task.shadow !== undefined && isOpen(task))
    const wrong = [...isKept(before, after, ran)]
    if (!half) {
      wrong.push(
        ...explained(before, after, done, inCheckout, inCheckout && ran),
        ...isWhole(before, after, done),
        ...settled(after, this.theirs),
      )
    }
    for (const { request, outcome } of executed)
      wrong.push(...(await this.#answer(request, outcome, before, after, done)))
    if (!half && executed.length === 1 && alone)
      wrong.push(...(await this.#remember(executed[0]!, done, before, after)))
    return wrong
  }

  async #newOperations(before: Snapshot, after: Snapshot): Promise<Operation[]> {
    const known = new Set(before.done)
    const ids = after.done.filter((id) => !known.has(id))
    const found = await Promise.all(ids.map((id) => readOperation(this.#fixture, id)))
    return found.filter((operation) => operation !== undefined)
  }

  /** What was acknowledged is so; what was not gives a reason. */
  async #answer(
    request: VerbRequest,
    { acknowledged, failed, hit }: Outcome,
    before: Snapshot,
    after: Snapshot,
    done: readonly Operation[],
  ): Promise<string[]> {
    const task = findTask(after, request.task) ?? findTask(before, request.task)
    if (!acknowledged) {
      const rough = (task && this.#rough.has(task.uid)) || this.#rough.size > 0
      if (hit !== undefined || failed === undefined || rough) return []
      return notAnAnswer.test(failed) ? [`${request.verb} failed: ${failed}`] : []
    }
    const open = task !== undefined && isOpen(task)
    switch (request.verb) {
      case 'start':
        return open ? [] : ['P2: the start was acknowledged, and there is no task']
      case 'reject':
      case 'delete':
        return after.tasks.some(
          (other) => other.id === request.task && isOpen(other) && !isUndone(other, done),
        )
          ? [`P2: the ${request.verb} was acknowledged, and the task is open`]
          : []
      case 'checkpoint':
        return task && open && !this.#rough.has(task.uid) ? this.#holds(task, after) : []
      default:
        return []
    }
  }

  /** P2, K5: the last step is the workspace. */
  async #holds(task: Task, { workspaces, files, tips }: Snapshot): Promise<string[]> {
    const tip = tips[task.uid]
    const space = task.shadow ? files : workspaces[path.basename(task.path)]
    if (tip === undefined || space === undefined) return ['P2: the step was acknowledged, and there is none']
    const listed = (await inVault(this.#fixture, 'ls-tree', '-r', '-z', tip)).split('\0').filter(Boolean)
    const step = new Map(
      listed.map((line) => /^\d+ \w+ (\w+)\t(.*)$/s.exec(line) ?? []).map(([, oid, name]) => [name, oid]),
    )
    const oid = (name: string) => space[name]?.split(' ')[1]
    const missing = Object.keys(space).filter(
      (name) => !/(^|\/)\.git(\/|$)|\.log$/.test(name) && step.get(name) !== oid(name),
    )
    const more = [...step.keys()].filter((name) => name !== undefined && oid(name) !== step.get(name))
    return [...new Set([...missing, ...more])].map((name) => `P2: the step does not hold ${name}`)
  }

  async #remember(
    { request, outcome }: Executed,
    done: readonly Operation[],
    before: Snapshot,
    after: Snapshot,
  ): Promise<string[]> {
    const wrong: string[] = []
    const touched = new Set<string>()
    const task = findTask(after, request.task)
    if (
      request.verb === 'start' &&
      outcome.acknowledged &&
      task &&
      !findTask(before, request.task)?.uid.includes(task.uid)
    )
      this.#first.set(task.uid, after.workspaces[path.basename(task.path)] ?? {})
    for (const { verb, task: uid } of done)
      if (verb === 'update' || verb === 'accept' || verb === 'undo') touched.add(uid)
    // What each of several found and left cannot be told.
    const [operation, ...more] = done
    if (operation && more.length === 0) {
      const undone = operation.undoes === undefined ? undefined : this.#done.get(operation.undoes)
      if (undone) wrong.push(...isBack(undone, before, after, operation.index !== undefined))
      if (this.#byItself.has(operation.undoes ?? '')) {
        const back = after.tasks.find(({ uid }) => uid === operation.task)
        wrong.push(...(back ? await this.#holds(back, after) : ['P3: the undo did not bring the task back']))
      }
      // What happens by itself follows a run, and nobody looked between the two: its last step says what it found.
      if (operation.auto) this.#byItself.add(operation.id)
      else this.#done.set(operation.id, { before, after })
      const whole = request.verb === 'accept' && request.as === 'patch' && !request.part
      const first = this.#first.get(operation.task)
      const named = before.tasks.find(({ uid }) => uid === operation.task)
      if (whole && first && named && !named.shadow && !this.#rough.has(named.uid))
        wrong.push(...hasLanded({ first, before, after, workspace: path.basename(named.path) }))
    }
    for (const uid of touched) this.#first.delete(uid)
    return wrong
  }
}

/** The open one, or the newest of that name. */
export function findTask({ tasks }: Snapshot, id: string): Task | undefined {
  return tasks.find((task) => task.id === id && isOpen(task)) ?? tasks.find((task) => task.id === id)
}

/** Another verb at the same time has taken back what was done to it. */
function isUndone({ uid }: Task, done: readonly Operation[]): boolean {
  return done.some(({ task, undoes }) => task === uid && done.some(({ id }) => id === undoes))
}
