/** Hints of starting a task, of its workspace, and of shadow branches. */
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { tryHints } from '../support/hints/try-hints.ts'

tryHints(import.meta.filename, [
  {
    name: 'a task that cannot be started so',
    async play(meet) {
      const user = meet()
      const { hint } = user
      const { git, dir, home } = user.user
      git('tag', 'v1')
      await hint('core/starting/plan-task.ts: git branch --all', 'offshoot start T1 --from none', {
        shows: /main|v1/,
        worksNow: 'offshoot start T1 --from v1',
      })
      await hint('core/starting/plan-task.ts: git branch lists', 'offshoot start T2 --existing-branch none', {
        shows: /main/,
        by: () => git('branch', 'old'),
        worksNow: 'offshoot start T2 --existing-branch old',
      })
      git('branch', 'spare')
      await hint('core/starting/start-task.ts: Choose another id', 'offshoot start T1 --branch other', {
        worksNow: 'offshoot start T1 && offshoot start T3 --branch other',
      })
      user.user.write('mine.txt', 'mine\n')
      await hint('core/starting/start-task.ts: offshoot update {} --dirty', 'offshoot start T1 --dirty', {
        shows: /Updated T1/,
      })
      await hint('core/starting/start-task.ts: {}Leave {} out', 'offshoot start T3 --isolation clone', {
        after: () => user.do('offshoot undo'),
        shows: /Rejected/,
        worksNow: 'offshoot start T3',
      })
      await hint(
        'core/workspaces/make.ts: Choose another branch with --branch NAME, or',
        'offshoot start T4 --branch spare',
        {
          worksNow: 'offshoot start T4 --branch newer',
        },
      )
      await hint(
        'core/workspaces/make.ts: Choose another branch with --branch NAME.',
        'offshoot start T5 --branch old/er',
        {
          worksNow: 'offshoot start T5 --branch older',
        },
      )
      await hint(
        'core/workspaces/recreate.ts: Choose another one',
        'offshoot start T6 --existing-branch main',
        {
          worksNow: true,
        },
      )
      const full = user.with({ OFFSHOOT_LIMITS_PER_REPO: '6' })
      await full.hint('core/starting/make-task.ts: Accept or reject', 'offshoot start T7', {
        shows: /T1|limits\.perRepo.*OFFSHOOT_LIMITS_PER_REPO/,
        by: () => full.do('offshoot reject T6'),
        worksNow: true,
      })
      const ports = user.with({ OFFSHOOT_PORTS_BASE: '65530', OFFSHOOT_PORTS_SIZE: '100' })
      await ports.hint('core/workspaces/port-block.ts: Lower', 'offshoot start T8', {
        worksNow: 'OFFSHOOT_PORTS_SIZE=0 offshoot start T8',
      })
      const based = (base: string) => `OFFSHOOT_WORKSPACE_BASE=${base} offshoot start T9`
      symlinkSync(home, path.join(dir, 'link'))
      const elsewhere = based(path.join(home, 'spaces'))
      await hint('core/workspaces/make.ts: Name the real folder', based('link'), { worksNow: elsewhere })
      await user.do('offshoot reject T9')
      await hint('core/workspaces/make.ts: Change workspace.base', based('a.txt'), { worksNow: elsewhere })
      await user.do('offshoot reject T9')
      await hint('core/workspaces/make.ts: Name a folder of its own', based('.'), {
        worksNow: based('spaces'),
      })
      const none = `git init --quiet ${home}/none && offshoot -C ${home}/none start T1`
      await hint('core/starting/plan-task.ts: Make a first one', none, {
        by: () => user.do('git commit --quiet --allow-empty -m "First commit"', `${home}/none`),
        worksNow: true,
      })
      await user.do(`git clone --quiet --bare ${dir} ${home}/bare.git`)
      const bare = `offshoot -C ${home}/bare.git`
      await hint('core/starting/make-task.ts: Leave --dirty out', `${bare} start T11 --dirty`, {
        worksNow: `${bare} start T11`,
      })
      await hint('core/operations/shadow.ts: Leave --isolation', `${bare} start T12 --isolation branch`, {
        worksNow: `${bare} start T12`,
      })
      await hint('core/verbs/import.ts: Repeat it in a checkout', `${bare} config import`, {
        in: `${home}/bare.git`,
        shows: /bare/,
      })
    },
  },
  {
    name: 'a workspace that is gone, was moved, or whose place is taken',
    async play(meet) {
      const user = meet()
      const { hint } = user
      const { git, home } = user.user
      await user.do('offshoot run --task T1 -- sh -c "echo 1 > b.txt"')
      const at = (await user.do('offshoot cd T1')).stdout.trim()
      rmSync(at, { recursive: true })
      await hint('cli/workspace-of.ts: offshoot start {} makes', 'offshoot cd T1', {
        worksNow: true,
        shows: /Recreated/,
      })
      rmSync(at, { recursive: true })
      await hint('core/workspaces/recreate.ts: offshoot start {}', 'offshoot checkpoint T1', {
        shows: /Recreated/,
        worksNow: true,
      })
      const moved = path.join(home, 'moved')
      git('worktree', 'move', at, moved)
      await hint('core/workspaces/moved.ts: git{} worktree move', 'offshoot checkpoint T1', {
        worksNow: true,
      })
      git('worktree', 'move', at, moved)
      git('worktree', 'lock', moved)
      renameSync(moved, `${moved}-away`)
      await hint('core/workspaces/moved.ts: It is locked', 'offshoot checkpoint T1', {
        worksNow: 'offshoot start T1 && offshoot checkpoint T1',
      })
      git('worktree', 'remove', '--force', at)
      git('worktree', 'add', '--quiet', '--detach', path.join(home, path.basename(at)))
      await hint('core/workspaces/moved.ts: Remove that worktree, or', 'offshoot start T1', {
        after: () => user.do('offshoot ops'),
        shows: /Rejected/,
      })
      await hint('core/workspaces/moved.ts: Remove that worktree, then', 'offshoot undo', {
        by: () => git('worktree', 'remove', '--force', path.join(home, path.basename(at))),
        worksNow: true,
      })
    },
  },
  {
    name: 'a shadow branch in a checkout that is busy with something else',
    async play(meet) {
      const user = meet({ 'a.txt': 'one\n' })
      const { hint } = user
      const { git, dir } = user.user
      const start = 'offshoot start T1 --isolation branch'
      const back = async () => {
        await user.do('offshoot reject T1')
        git('reset', '--quiet', '--hard')
      }
      git('switch', '--quiet', '--detach')
      await hint('core/operations/shadow.ts: Switch to a branch', start, {
        by: () => git('switch', '--quiet', 'main'),
        worksNow: true,
      })
      await back()
      git('switch', '--quiet', '-c', 'other')
      user.user.write('a.txt', 'other\n')
      git('commit', '--quiet', '-am', 'other')
      git('switch', '--quiet', 'main')
      user.user.write('a.txt', 'mine\n')
      git('commit', '--quiet', '-am', 'mine')
      const conflict = async (line: string) => {
        expect((await user.type(line)).code).not.toBe(0)
      }
      await conflict('git merge --quiet other')
      await hint('core/operations/shadow.ts: Finish it first', start, { worksNow: true })
      await back()
      for (const line of [
        'git cherry-pick other',
        'git revert --no-edit HEAD~1..HEAD^0',
        'git rebase --quiet other',
      ])
        if ((await user.type(line)).code !== 0) {
          await hint('core/operations/shadow.ts: Finish it first', start, { worksNow: true })
          await back()
        }
      git('bisect', 'start')
      await hint('core/operations/shadow.ts: Finish it first', start, { worksNow: true })
      await back()
      user.user.write('a.txt', 'stashed\n')
      git('stash', '--quiet')
      git('reset', '--quiet', '--hard', 'other')
      await conflict('git stash pop --quiet')
      await hint('core/operations/shadow.ts: Resolve it first', start, {
        shows: /a\.txt/,
        by: () => user.do('git add a.txt'),
        worksNow: true,
      })
      await back()
      rmSync(path.join(dir, '.git', 'index'))
      await hint('core/operations/shadow.ts: git reset makes one', start, { worksNow: true })
      await hint(
        'core/starting/start-task.ts: {} Or set',
        'OFFSHOOT_AUTO_REVERT_NEW_TASK=false offshoot start T2 --isolation branch',
        {
          after: () => user.do('offshoot undo'),
          worksNow: 'OFFSHOOT_AUTO_REVERT_NEW_TASK=true offshoot start T2 --isolation branch',
        },
      )
      await hint('cli/play.ts: offshoot undo {} brings', 'offshoot start T3 --isolation branch', {
        ends: { 'offshoot undo': 4 },
        shows: /T3 is at work there/,
        by: (said) => user.do(`offshoot reject T3 && ${/offshoot undo \w+/.exec(said)?.[0]}`),
      })
    },
  },
  {
    name: 'a shadow branch at work',
    async play(meet) {
      const user = meet({ 'a.txt': 'one\n' })
      const { hint } = user
      const { git, home } = user.user
      user.user.write('a.txt', 'mine\n')
      await user.do('offshoot start T1 --isolation branch && echo work > b.txt && echo more > c.txt')
      await hint('core/landing/on-shadow.ts: Use --as squash', 'offshoot accept T1 --as patch --only b.txt', {
        worksNow:
          'offshoot accept T1 --as squash --only b.txt --dry-run && offshoot accept T1 --as patch --dry-run',
      })
      await hint('core/verbs/install.ts: Use a task', 'offshoot agents install T1', {
        worksNow: 'offshoot start T9 && offshoot agents install T9',
      })
      await hint('core/verbs/update.ts: Merge a branch instead', 'offshoot update T1 --dirty', {
        shows: /T1/,
      })
      await user.do('offshoot checkpoint T1')
      git('switch', '--quiet', '-c', 'aside')
      await hint('core/workspaces/recreate.ts: git switch {} goes', 'offshoot checkpoint T1', {
        worksNow: true,
      })
      await user.do('offshoot run --task T3 -- true')
      await hint('core/tasks/guards.ts: Close that one first', 'offshoot accept T3', {
        after: () => user.do('offshoot undo'),
        shows: /T1/,
      })
      const other = path.join(home, 'other')
      git('worktree', 'add', '--quiet', other, 'main')
      writeFileSync(path.join(other, 'a.txt'), 'theirs\n')
      await user.do('git commit --quiet -am theirs && git switch --quiet --detach', other)
      await hint('core/operations/close.ts: {} has moved', 'offshoot reject T1', { worksNow: true })
      git('switch', '--quiet', 'aside')
      await hint('core/operations/fits.ts: Bring it back first', 'offshoot undo', { worksNow: true })
    },
  },
  {
    name: 'a repository that was made anew',
    async play(meet) {
      const user = meet()
      const { dir } = user.user
      await user.do('offshoot run --task T1 -- sh -c "echo 1 > b.txt"')
      await user.do('offshoot run --task T2 -- sh -c "echo 2 > c.txt" && offshoot reject T2')
      rmSync(path.join(dir, '.git'), { recursive: true })
      await user.do('git init --quiet --initial-branch=main && git add a.txt && git commit --quiet -m anew')
      await user.hint('core/operations/fits.ts: The repository was made', 'offshoot undo', {
        shows: /reject/,
      })
      await user.hint('core/workspaces/recreate.ts: What {} did is kept', 'offshoot exec T1 -- true', {
        after: (command) => command.includes('accept') && user.do('offshoot undo'),
        shows: /T1/,
      })
    },
  },
])
