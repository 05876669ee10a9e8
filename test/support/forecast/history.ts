/** Random histories for the forecast: tasks that start one after the other, a target that moves on, a user with changes of their own. */
import { type Edit, edits, looseEdits, someEdits, baseTree } from '../accept/edits.ts'
import type { Tree } from '../accept/tree.ts'
import { fc } from '../random.ts'

interface TaskHistory {
  /** What the user commits before the task starts. */
  readonly before: Edit[]
  /** One step each. */
  readonly steps: Edit[][]
  /** The task starts from the checkout as it is. */
  readonly dirty: boolean
  /** What happens to the task before anything is forecast. */
  readonly turn: 'none' | 'update' | 'part' | 'rewind'
}

export interface History {
  /** With rules how to merge or convert files, sometimes: a task or the user may change those, too. */
  readonly base: Tree
  readonly tasks: TaskHistory[]
  readonly user: {
    readonly committed: Edit[]
    /** Rules that the last commit of the user's adds; empty: none. */
    readonly rules: string
    readonly staged: Edit[]
    readonly loose: Edit[]
  }
  /** Which tasks land first, by a number each. */
  readonly order: number[]
}

const rarely = fc.nat(5).map((n) => n === 0)

const task: fc.Arbitrary<TaskHistory> = fc.record({
  before: fc.oneof({ weight: 2, arbitrary: fc.constant<Edit[]>([]) }, { weight: 1, arbitrary: edits(2) }),
  steps: fc.array(someEdits(3), { minLength: 1, maxLength: 2 }),
  dirty: rarely,
  turn: fc.oneof(
    { weight: 5, arbitrary: fc.constant('none' as const) },
    { weight: 1, arbitrary: fc.constantFrom('update' as const, 'part' as const, 'rewind' as const) },
  ),
})

const rules = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('a merge=union\n', 'd/* merge=union\nb -merge\n', '* text eol=crlf\n'),
  },
)

const base: fc.Arbitrary<Tree> = fc
  .tuple(baseTree, rules)
  .map(([tree, text]) =>
    text === '' ? tree : new Map([...tree, ['.gitattributes', { mode: '100644', text }]]),
  )

export const history: fc.Arbitrary<History> = fc.record({
  base,
  tasks: fc.array(task, { minLength: 2, maxLength: 4 }),
  user: fc.oneof(
    fc.constant<History['user']>({ committed: [], rules: '', staged: [], loose: [] }),
    fc.record({ committed: edits(3), rules, staged: edits(2), loose: looseEdits(3) }),
  ),
  order: fc.array(fc.nat(9), { minLength: 4, maxLength: 4 }),
})
