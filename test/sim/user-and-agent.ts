/** What users and agents do. What cannot be done is left undone, as git or the system says so. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Task } from '../../src/core/model/task.ts'
import type { Action } from '../faults/corpus/action.ts'
import { actions } from '../faults/corpus/actions.ts'
import { act, bash } from '../faults/corpus/corpus-fixture.ts'
import { shapes } from '../faults/corpus/shapes.ts'
import type { SimFixture } from './sim-fixture.ts'
import type { AgentAction, UserAction } from './history-actions.ts'

const files = [
  'a.txt',
  'src/b.txt',
  'src/deep/c.txt',
  'edited.txt',
  'run.sh',
  'second.txt',
  'new/one.txt',
  'new/two.txt',
]
const tasks = ['T1', 'T2', 'T3']

const round = <T>(list: readonly T[], which: number): T => list[which % list.length]!

/** At the top for the user and at the bottom for the agent: so there is something to merge, and now and then a conflict. */
const line = (who: string, which: number) =>
  which % 3 === 0 ? `sed -i '1s/.*/${who} ${which}/'` : `sed -i '$a ${who} ${which}'`

const commit = `git commit --quiet --message`

const userScripts: Readonly<Record<Exclude<UserAction, 'move'>, (which: number) => string>> = {
  edit: (which) => `${line('user', which)} ${round(files, which)}`,
  create: (which) =>
    `mkdir -p new && echo 'user ${which}' > new/${round(['one', 'two', 'of-user'], which)}.txt`,
  delete: (which) => `rm ${round(files, which)}`,
  stage: (which) => (which % 2 ? 'git add --all' : `git add ${round(files, which)}`),
  commit: (which) => `${commit}='User ${which}'`,
  'commit all': (which) => `git add --all && ${commit}='User ${which}'`,
  amend: (which) => `${commit}='Amended ${which}' --amend`,
  branch: (which) => `git switch --quiet --create user-${which}`,
  switch: (which) => `git switch --quiet ${round(['main', 'feature'], which)}`,
  rebase: () => 'git rebase --quiet feature || git rebase --abort',
  stash: () => 'git stash --quiet',
  tag: (which) => `git tag user-${which}`,
  gc: (which) =>
    which % 2
      ? 'git gc --quiet --prune=now'
      : 'git reflog expire --expire=now --all && git gc --quiet --prune=now',
  'pack refs': () => 'git pack-refs --all',
  'delete task branch': (which) => `git update-ref -d refs/heads/offshoot/${round(tasks, which)}`,
  'prune worktrees': () => 'git worktree prune',
  'leave a lock': () => 'test -e .git/index.lock && rm .git/index.lock || : > .git/index.lock',
}

export function userDoes(fixture: SimFixture, does: UserAction, which: number): string {
  if (does === 'move') {
    fixture.move()
    return 'done'
  }
  return attempt(() => bash(fixture.dir, userScripts[does](which), { ...fixture.env }))
}

const agentScripts: Readonly<Record<Exclude<AgentAction, 'shape' | 'corpus'>, (which: number) => string>> = {
  // A pipe would be waited for until somebody writes into it.
  edit: (which) => `[ ! -p ${round(files, which)} ] && ${line('agent', which)} ${round(files, which)}`,
  create: (which) =>
    `mkdir -p new made && echo 'agent ${which}' > ${round(['new/one.txt', 'new/two.txt', 'made/x.txt', 'out.log'], which)}`,
  delete: (which) => `rm ${round(files, which)}`,
  commit: (which) => `git add --all && ${commit}='Agent ${which}'`,
}

export function agentScript(does: 'edit' | 'create' | 'delete', which: number): string {
  return agentScripts[does](which)
}

/** What keeps writing, what takes seconds, and what would make the user's own git wait for ever. */
const isQuick = ({ meanwhile, later, name }: Action) =>
  meanwhile === undefined && !later && !/pipes? in the place of (what|\.git)|hangs/.test(name)

/** What an agent does to a git that it shares with the user is not what this is about. */
const isContained = ({ script }: Action) =>
  !/\$COMMON|\$GITDIR|git config|refs\/heads\/main|replace|for-each-ref|ignore-other|submodule/.test(script)

const quick = actions.filter((action) => isQuick(action) && action.before === undefined)
const contained = quick.filter((action) => isContained(action) && action.only !== 'clone')

/** What an agent does in its workspace, if there is one. */
export function agentDoes(
  fixture: SimFixture,
  task: Task | undefined,
  does: AgentAction,
  which: number,
): string {
  const space = task?.path
  if (!task || !space || !existsSync(space)) return 'there is no workspace'
  if (does !== 'shape' && does !== 'corpus')
    return attempt(() => bash(space, agentScripts[does](which), { ...fixture.env }))
  const able = does === 'shape' ? quickShapes : task.isolation === 'clone' ? quick : contained
  // In the user's own checkout an agent that breaks things breaks the user's.
  if (task.isolation === 'branch') return 'not in the checkout'
  const action = round(able, which)
  const corpusFixture = {
    repo: fixture.dir,
    space,
    other: fixture.at('other'),
    outside: fixture.at('outside'),
    canary: fixture.canary,
  }
  const script = action.script.replaceAll('offshoot/T1', `offshoot/${task.id}`)
  return `${attempt(() => act(corpusFixture, script, fixture.env))}: ${action.name}`
}

const quickShapes = shapes.filter(isQuick)

function attempt(work: () => void): string {
  try {
    work()
    return 'done'
  } catch {
    return 'could not'
  }
}

/** Whether the action may have broken more than files. */
export function isRough(does: AgentAction): boolean {
  return does === 'corpus' || does === 'shape'
}

export function onlyPaths(which: number): string[] {
  return [round(files, which), path.dirname(round(files, which + 1))].filter((name) => name !== '.')
}
