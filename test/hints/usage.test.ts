/** Hints about lines that were typed wrong. */
import { expect } from 'vitest'
import { tryHints } from '../support/hints/try-hints.ts'

tryHints(import.meta.filename, [
  {
    name: 'words, options and values that do not exist',
    async play(meet) {
      const user = meet()
      await user.do('offshoot start T1 && offshoot start T2')
      const { hint } = user
      await hint('cli/find-command.ts: offshoot --help lists', 'offshoot frobnicate', { shows: /accept/ })
      await hint('cli/find-command.ts: Did you mean: offshoot {}', 'offshoot lst --all', { shows: /T1/ })
      await hint('cli/find-command.ts: Did you mean: offshoot reject{}', 'offshoot rm T2', {
        after: (command) => command.includes('worktree') || user.do('offshoot undo'),
        shows: /T2/,
      })
      await hint('cli/find-command.ts: Give one of', 'offshoot worktree', { shows: /worktree list/ })
      await hint('cli/arguments.ts: offshoot {}--help', 'offshoot list --frobnicate', { shows: /--state/ })
      await hint('cli/arguments.ts: Did you mean: --{}', 'offshoot list --al', {
        worksNow: 'offshoot list --all',
      })
      await hint('cli/arguments.ts: {} takes one of', 'offshoot accept T1 --as cherry', {
        worksNow: (said) => `offshoot accept T1 --dry-run --as ${/keep-branch/.exec(said)?.[0]}`,
      })
      await hint('cli/arguments.ts: Usage: offshoot {}', 'offshoot show T1 T2', {
        fill: { '[TASK]': 'T1' },
        shows: /T1/,
      })
      await hint('cli/commands/run.ts: Usage: offshoot exec {}', 'offshoot exec T1', {
        fill: { 'COMMAND…': 'echo done' },
        shows: /done/,
      })
      await hint('cli/commands/start.ts: Usage', 'offshoot worktree create', {
        fill: { TASK: 'T3' },
        shows: /Started T3/,
      })
      await hint('cli/commands/remove.ts: Give one of', 'offshoot worktree remove', {
        by: (said) => user.do(`offshoot worktree remove ${/--task/.exec(said)?.[0]} T3`),
      })
      await hint('cli/commands/rewind.ts: offshoot {} --to 0', 'offshoot rewind T1', { shows: /to step 0/ })
      await hint('cli/commands/prune.ts: Write it as', 'offshoot prune --dry-run --hours few', {
        worksNow: 'offshoot prune --dry-run --hours 12 && offshoot prune --dry-run --older-than 12h',
      })
      await hint('cli/ages.ts: Write it as 30m', 'offshoot prune --dry-run --older-than old', {
        worksNow: (said) => `offshoot prune --dry-run ${said.split(': ')[1]}`,
      })
      await hint(
        'cli/commands/run.ts: A higher one starts first',
        'offshoot run --detach --priority high -- true',
        {
          worksNow: 'offshoot run --detach --priority 5 -- true',
        },
      )
      await hint('core/verbs/forecast.ts: Name each task once', 'offshoot forecast --after T1,T1', {
        shows: /T1/,
      })
      await user.do('offshoot start T4')
      await user.do('offshoot reject T4')
      await hint('core/verbs/forecast.ts: Name open tasks', 'offshoot forecast --after T4', { shows: /T1/ })
      await hint('cli/ages.ts: Write it as 12h', 'offshoot audit --since old', {
        worksNow: (said) => `offshoot audit ${said.split(': ')[1]}`,
      })
    },
  },
  {
    name: 'options that exclude each other, or that a strategy does not take',
    async play(meet) {
      const user = meet()
      const { hint } = user
      await user.do('offshoot run --task T1 -- sh -c "echo 1 > b.txt"')
      await hint('core/base/exclusions.ts: Give one of them', 'offshoot diff T1 --stat --name-only', {
        worksNow: 'offshoot diff T1 --stat',
      })
      await hint(
        'cli/commands/run.ts: Leave one of them',
        'offshoot run --isolation direct --task T9 -- true',
        {
          worksNow: 'offshoot run --isolation direct -- true',
        },
      )
      await hint('core/starting/options.ts: Leave one of them', 'offshoot start T2 --dirty --from main', {
        worksNow: 'offshoot start T2 --dirty',
      })
      await hint(
        'core/starting/options.ts: Leave it out, or check',
        'offshoot start T3 --isolation branch --from HEAD~0',
        { worksNow: 'offshoot start T3 --isolation branch' },
      )
      await user.do('offshoot reject T3')
      await hint(
        'core/landing/options.ts: Leave it out, or use',
        'offshoot accept T1 --dry-run --onto main',
        {
          worksNow: (said) => `offshoot accept T1 --dry-run --onto main --as ${/--as (\w+)/.exec(said)?.[1]}`,
        },
      )
      await hint(
        'core/landing/options.ts: Write a message',
        'offshoot accept T1 --as squash -m " " --dry-run',
        {
          worksNow: 'offshoot accept T1 --as squash -m "Do it" --dry-run',
        },
      )
      const list = 'offshoot diff T1 --hunks > ../hunks.txt'
      await user.do(list)
      const chosen = 'offshoot accept T1 --dry-run --hunks ../hunks.txt'
      await hint('core/landing/options.ts: Leave --only and --step', `${chosen} --step 1`, {
        worksNow: chosen,
      })
      await hint('core/landing/options.ts: Leave --without-failed', `${chosen} --without-failed`, {
        worksNow: chosen,
      })
      await hint(
        'cli/hunk-ids.ts: Such a list is written by',
        'offshoot accept T1 --dry-run --hunks ../none.txt',
        {
          worksNow: true,
        },
      )
      user.user.write('../wrong.txt', 'no id\n')
      const wrong = 'offshoot accept T1 --dry-run --hunks ../wrong.txt'
      await hint('cli/hunk-ids.ts: Write one id per line', wrong, {
        by: (said) => user.do(`${/offshoot diff T1 --hunks/.exec(said)?.[0]} > ../wrong.txt`),
        worksNow: true,
      })
      await hint(
        'cli/hunk-ids.ts: offshoot diff{} --hunks',
        'offshoot accept T1 --dry-run --hunks ../non.txt',
        {
          worksNow:
            'offshoot diff T1 --hunks > ../non.txt && offshoot accept T1 --dry-run --hunks ../non.txt',
        },
      )
      user.user.write('../empty.txt', '')
      await hint(
        'core/landing/offer.ts: offshoot diff {} --hunks',
        'offshoot accept T1 --hunks ../empty.txt',
        {
          shows: /b\.txt/,
        },
      )
      user.user.write('../stale.txt', '0123456789\n')
      await hint('core/steps/hunks.ts: It has landed', 'offshoot accept T1 --hunks ../stale.txt', {
        shows: /b\.txt/,
        worksNow: chosen,
      })
      await hint('cli/commands/accept.ts: offshoot log{}', 'offshoot accept T1 --step one', {
        shows: /b\.txt/,
      })
      await hint('core/steps/history.ts: Write it as', 'offshoot diff T1 --step one', {
        worksNow: 'offshoot diff T1 --step 1 && offshoot diff T1 --step 0..1',
      })
      await hint('core/steps/history.ts: offshoot log {}', 'offshoot diff T1 --step 7', { shows: /^1 /m })
      await hint(
        'core/landing/offer.ts: offshoot diff {} --name-only',
        'offshoot accept T1 --only none.txt',
        {
          shows: /b\.txt/,
          worksNow: 'offshoot accept T1 --only b.txt --dry-run',
        },
      )
      await hint('core/base/pathspec.ts: Name paths', 'offshoot accept T1 --dry-run --only ../x', {
        worksNow: "offshoot accept T1 --dry-run --only ':/b.txt'",
      })
      await hint('core/verbs/compare.ts: offshoot list', 'offshoot compare T1 T1', {
        shows: /T2/,
        worksNow: 'offshoot compare T1 T2',
      })
    },
  },
  {
    name: 'names that cannot be, and tasks that are not there',
    async play(meet) {
      const user = meet()
      const { hint } = user
      await user.do('offshoot start fix-cors && offshoot start fix-tabs')
      await hint('core/model/names.ts: Use 1 to {}', "offshoot start 'a b'", {
        worksNow: 'offshoot start a.b',
      })
      await hint('core/model/errors.ts: Use a plain name', 'offshoot start ../up', {
        worksNow: 'offshoot start up',
      })
      await hint('core/model/names.ts: Choose another', "offshoot start T1 --branch 'a b'", {
        worksNow: 'offshoot start T1 --branch a-b/c_d',
      })
      await hint('core/tasks/records.ts: Choose another id', 'offshoot start Up', {
        shows: /up/,
        worksNow: 'offshoot start upper',
      })
      await hint('core/tasks/find.ts: Did you mean {}? offshoot', 'offshoot accept fixcors', {
        shows: /fix-cors/,
        worksNow: (said) => `offshoot accept ${/mean (.*)\?/.exec(said)?.[1]} --dry-run`,
      })
      await hint('core/tasks/find.ts: Did you mean {}?', 'offshoot checkpoint fix-c', {
        worksNow: (said) => `offshoot show ${/mean (.*)\?/.exec(said)?.[1]}`,
      })
      await hint('core/tasks/find.ts: Give more', 'offshoot show fix-', { worksNow: 'offshoot show fix-c' })
      await hint('core/model/errors.ts: offshoot list shows the open', 'offshoot show nobody', {
        shows: /fix-cors/,
      })
      await hint('core/tasks/find.ts: offshoot list shows the tasks; name', 'offshoot log', {
        shows: /fix-cors/,
        worksNow: 'offshoot log fix-cors',
      })
      await hint('core/tasks/find.ts: offshoot list shows the open', 'offshoot show @', {
        fill: { TASK: 'fix-cors' },
        by: (said) => user.do(`${/cd ".*"/.exec(said)?.[0].replace('TASK', 'fix-cors')} && offshoot show @`),
      })
      await hint('cli/commands/log.ts: {} has no steps yet', 'offshoot log fix-cors', { shows: /^/ })
      user.user.write('mine.txt', 'mine\n')
      await hint('cli/commands/update.ts: undo: offshoot undo', 'offshoot update fix-cors --dirty', {
        shows: /Undid update/,
      })
      await hint('cli/commands/watch.ts: offshoot watch --json --since 0', 'offshoot watch --since 5', {
        until: /"seq"/,
      })
      await hint('cli/commands/watch.ts: Write it as', 'offshoot watch --json --since soon', {
        by: (said) =>
          user.interrupt(`offshoot watch --json --since ${/; (\d+)/.exec(said)?.[1]}`, (shown) =>
            shown.includes('"seq"'),
          ),
      })
      await hint('cli/commands/watch.ts: offshoot watch --json prints', 'offshoot watch', {
        only: /list/,
        shows: /fix-cors/,
        by: async (said) => {
          let isOver = false
          const line = /offshoot watch --json/.exec(said)?.[0] ?? ''
          const watching = user
            .interrupt(line, (shown) => shown.includes('"seq"'))
            .finally(() => (isOver = true))
          while (!isOver) await user.do('offshoot start W && offshoot reject W')
          expect((await watching).code).toBe(0)
        },
      })
      await hint('core/verbs/remove.ts: offshoot list --all', 'offshoot worktree remove none', {
        shows: /fix-cors/,
        worksNow: 'offshoot worktree remove fix-tabs',
      })
      await hint('core/verbs/forget.ts: offshoot repos', 'offshoot repos forget /nowhere', {
        shows: new RegExp(user.user.dir),
      })
      await hint('core/verbs/undo.ts: offshoot ops lists the operations', 'offshoot undo none', {
        shows: /remove/,
      })
      await hint('git/locate.ts: Name an existing folder', 'offshoot list -C ../nowhere', {
        worksNow: 'offshoot list -C .',
      })
      await hint('core/model/errors.ts: Go to a repository', 'offshoot list', {
        in: user.user.home,
        worksNow: `offshoot list -C ${user.user.dir}`,
      })
      const other = meet()
      await other.do('offshoot start T1 && offshoot reject T1')
      await other.hint('core/tasks/find.ts: offshoot list --all also', 'offshoot show -', {
        shows: /T1/,
        worksNow: 'offshoot show T1',
      })
    },
  },
])
