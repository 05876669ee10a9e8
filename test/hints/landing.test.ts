/** Hints of accept, update and undo. */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { tryHints } from '../support/hints/try-hints.ts'

const lines = (changes: Readonly<Record<number, string>> = {}) =>
  Array.from({ length: 20 }, (_, n) => `${changes[n + 1] ?? n + 1}\n`).join('')

tryHints(import.meta.filename, [
  {
    name: 'work that lands, and is taken back',
    async play(meet) {
      const user = meet({ 'a.txt': 'one\n' })
      const { hint } = user
      const { dir, home } = user.user
      const list = { shows: /a\.txt|Undid/ }
      await user.do('offshoot run --task T1 -- sh -c "echo 1 > b.txt"')
      await hint('cli/commands/accept.ts: undo: offshoot undo', 'offshoot accept T1', {
        shows: /Undid accept/,
      })
      await hint('cli/commands/undo.ts: redo: offshoot undo', 'offshoot reject T1 && offshoot undo', {
        shows: /Undid undo/,
      })
      await user.do('offshoot undo')
      await hint('cli/commands/reject.ts: undo: offshoot undo', 'offshoot reject T1', {
        shows: /Undid reject/,
      })
      await hint('cli/commands/rewind.ts: undo: offshoot undo', 'offshoot rewind T1 --to 0', list)
      await hint('cli/commands/remove.ts: undo: offshoot undo', 'offshoot worktree remove T1', list)
      await hint(
        'cli/commands/prune.ts: {}; undo: offshoot undo',
        'OFFSHOOT_PRUNE_MIN_KEEP=0 offshoot prune --older-than 0m --force',
        {
          shows: /Undid prune/,
        },
      )
      const closed = 'offshoot accept T1 --keep --dry-run'
      await user.do('offshoot accept T1')
      await hint('core/tasks/guards.ts: offshoot undo {} opens', 'offshoot checkpoint T1', {
        worksNow: closed,
      })
      await user.do('offshoot reject T1')
      await hint('cli/workspace-of.ts: offshoot undo {} opens', 'offshoot cd T1', { worksNow: true })
      await user.do('offshoot accept T1 --as keep-branch')
      await hint('core/tasks/guards.ts: Its work is on', 'offshoot accept T1', {
        by: () => user.do('test -f b.txt'),
      })
      await user.do('git reset --quiet --hard HEAD~1')
      const undone = await user.do('offshoot undo && offshoot ops')
      const last = /(\w+) +accept +T1 .*undone/.exec(undone.stdout)?.[1]
      await hint('core/verbs/undo.ts: offshoot ops lists the operations', `offshoot undo ${last}`, {
        shows: /undone/,
      })
      const inside = (await user.do('offshoot cd T1')).stdout.trim()
      await hint('cli/left-folder.ts: this folder has gone', 'offshoot reject', {
        in: inside,
        goes: home,
        by: (said) => user.do(`${said.split(': ')[1]} && test "$PWD" = ${dir} && offshoot undo`, home),
      })
    },
  },
  {
    name: 'a new task of the same id, and what came later',
    async play(meet) {
      const user = meet({ 'n.txt': lines() })
      const { hint } = user
      const { git, home } = user.user
      const edit = "sh -c 'sed -i s/^5$/agent/ n.txt'"
      await user.do(`offshoot run --task T1 -- ${edit} && offshoot accept T1`)
      user.user.write('n.txt', lines({ 5: 'mine' }))
      await hint('core/operations/files.ts: What came later', 'offshoot undo', {
        by: () => user.user.write('n.txt', lines({ 5: 'agent' })),
        worksNow: true,
      })
      await user.do('offshoot accept T1 && offshoot start T1')
      await hint('core/tasks/guards.ts: Close that one first', 'offshoot undo', {
        after: (command) => command.includes('reject') && user.do('offshoot undo'),
        shows: /T1/,
        worksNow: `offshoot undo $(offshoot ops | awk '$2 == "accept" && $NF != "undone" {id = $1} END {print id}')`,
      })
      await user.do(`offshoot accept T1 --as squash`)
      git('switch', '--quiet', '--detach')
      const other = path.join(home, 'other')
      git('worktree', 'add', '--quiet', other, 'main')
      writeFileSync(path.join(other, 'x.txt'), 'x\n')
      await user.do('git add x.txt && git commit --quiet -m x && git switch --quiet -c side HEAD~2', other)
      writeFileSync(path.join(other, 'n.txt'), lines({ 5: 'side' }))
      await user.do('git commit --quiet -am side', other)
      await user.type('git switch --quiet main && git rebase side', other)
      await hint('core/landing/commit-build.ts: Finish it first', 'offshoot undo', {
        by: () =>
          user.do(
            'git switch --quiet main && git reset --quiet --hard HEAD~1 && git switch --quiet -',
            other,
          ),
        worksNow: true,
      })
      await user.do('git switch --quiet --detach', other)
    },
  },
  {
    name: 'conflicts with files and with a branch',
    async play(meet) {
      const user = meet({ 'n.txt': lines(), 'm.txt': lines() })
      const { hint } = user
      const { git } = user.user
      await user.do(`offshoot run --task T1 -- sh -c 'sed -i s/^5$/agent/ n.txt; echo new > new.txt'`)
      const at = (await user.do('offshoot cd T1')).stdout.trim()
      const resolve = () => writeFileSync(path.join(at, 'n.txt'), lines({ 5: 'both' }))
      user.user.write('n.txt', lines({ 5: 'mine' }))
      await hint(
        'core/landing/way-out.ts: {}; offshoot accept {} --conflicts markers',
        'offshoot accept T1',
        {
          after: () => user.do('offshoot undo'),
          shows: /conflict to resolve/,
        },
      )
      user.user.write('new.txt', 'mine\n')
      await hint('core/landing/way-out.ts: Commit your changes', 'offshoot accept T1 --only new.txt', {
        by: () => rmSync(path.join(user.user.dir, 'new.txt')),
        worksNow: 'offshoot accept T1 --only new.txt --dry-run',
      })
      user.user.write('n.txt', lines({ 12: 'mine' }))
      await hint('core/landing/way-out.ts: , or land beside them', 'offshoot accept T1 --as squash', {
        after: () => user.do('offshoot undo'),
        shows: /Accepted T1/,
      })
      user.user.write('n.txt', lines({ 5: 'mine' }))
      await hint('core/verbs/update.ts: Repeat with --conflicts markers', 'offshoot update T1 --dirty', {
        worksNow: (said) => `offshoot update T1 --dirty ${/--conflicts markers/.exec(said)?.[0]}`,
      })
      const kept = 'offshoot accept T1 --as squash --dry-run'
      await hint('core/landing/preview.ts: Resolve them in', 'offshoot accept T1', {
        by: resolve,
        worksNow: (said) => `offshoot accept T1 --dry-run ${/--allow n\.txt/.exec(said)?.[0]}`,
      })
      await hint('core/landing/way-out.ts: {} was updated', 'offshoot accept T1 --as squash', {
        after: () => user.do('offshoot undo'),
        by: () => git('commit', '--quiet', '-am', 'mine'),
        worksNow: kept,
      })
      git('reset', '--quiet', '--hard', 'HEAD~1')
      await user.do('offshoot rewind T1 --to 1')
      user.user.write('n.txt', lines({ 5: 'mine' }))
      git('commit', '--quiet', '-am', 'mine again')
      await hint(
        'core/landing/way-out.ts: offshoot update {}{} --conflicts markers',
        'offshoot accept T1 --as squash',
        {
          shows: /conflict to resolve/,
          after: resolve,
          worksNow: kept,
        },
      )
      await user.do(`offshoot run --task T2 -- sed -i s/^7$/seven/ m.txt`)
      await user.do(`offshoot exec T2 -- sed -i s/^seven$/sieben/ m.txt`)
      await hint('core/verbs/accept.ts: Steps that were left out', 'offshoot accept T2 --step 2', {
        worksNow: 'offshoot accept T2 --step 1 --step 2 --dry-run',
      })
    },
  },
  {
    name: 'what may not land, and where nothing can',
    async play(meet) {
      const user = meet()
      const { hint } = user
      const { git, dir } = user.user
      await user.do(`offshoot run --task T1 -- sh -c 'echo k > key.pem; echo all: > Makefile'`)
      await hint('core/landing/preview.ts: To land all the same', 'offshoot accept T1 --dry-run', {
        worksNow: (said) =>
          `offshoot accept T1 --dry-run ${/--allow key\.pem/.exec(said)?.[0]} | grep 'would land'`,
      })
      await hint(
        'core/landing/preview.ts: Look at them',
        'offshoot accept T1 --allow key.pem --fail-on-risk',
        {
          worksNow: 'offshoot accept T1 --allow key.pem',
        },
      )
      await user.do('offshoot undo')
      git('switch', '--quiet', '--detach')
      await user.do('offshoot run --task T2 -- touch b.txt')
      const lands = 'offshoot accept T2 --as squash'
      await hint('core/landing/options.ts: Name a branch', lands, {
        shows: /main/,
        worksNow: `${lands} --onto main`,
      })
      git('switch', '--quiet', 'main')
      git('branch', 'own')
      await user.do('offshoot start T3 --existing-branch own && offshoot exec T3 -- touch c.txt')
      const onto = 'offshoot accept T3 --as squash'
      await hint('core/landing/commit-build.ts: Use --as patch', onto, {
        shows: /main/,
        worksNow: `${onto} --onto main --dry-run && offshoot accept T3 --as patch --dry-run`,
      })
      const hook = path.join(dir, '.git', 'hooks', 'commit-msg')
      const strict = (body: string) => {
        mkdirSync(path.dirname(hook), { recursive: true })
        writeFileSync(hook, `#!/bin/sh\n${body}\n`)
        chmodSync(hook, 0o755)
      }
      strict('grep -q ticket "$1"')
      const hooked = 'offshoot accept T3 --as squash --onto main --hooks'
      await hint('core/landing/git-hooks.ts: Nothing was written', hooked, {
        worksNow: `${hooked} -m "A ticket" && offshoot undo && offshoot accept T3 --as squash --onto main && offshoot undo`,
      })
      strict(
        'rm "$0"; git update-ref refs/heads/main $(git -c user.name=U -c user.email=u commit-tree -m meanwhile -p main main^{tree}) >&2',
      )
      await hint('core/operations/refs.ts: Repeat the command', hooked, { worksNow: true })
      await user.do('offshoot undo')
      const who = 'unset GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL EMAIL; '
      git('config', 'user.useConfigOnly', 'true')
      await hint('vault/publish/commit.ts: Say it', `${who}offshoot accept T3 --as squash --onto main`, {
        worksNow: true,
      })
      await user.do('offshoot undo')
      const lock = path.join(dir, '.git', 'index.lock')
      writeFileSync(lock, '')
      await hint('checkout/index.ts: Wait for it', onto.replace('squash', 'squash --onto main'), {
        worksNow: true,
      })
      await user.do('offshoot undo')
      writeFileSync(path.join(dir, '.git', 'refs', 'heads', 'main.lock'), '')
      await hint('git/refs.ts: Wait for it', onto.replace('squash', 'squash --onto main'), { worksNow: true })
    },
  },
  {
    name: 'a pull request',
    async play(meet) {
      const user = meet()
      const { git, home } = user.user
      const bin = path.join(home, 'bin')
      const program = (name: string, body: string) => {
        mkdirSync(bin, { recursive: true })
        writeFileSync(path.join(bin, name), `#!/bin/sh\n[ "$1" = --version ] && exit 0\n${body}\n`)
        chmodSync(path.join(bin, name), 0o755)
      }
      program('none', 'true')
      const asking = user.with({ PATH: `${bin}${path.delimiter}${user.user.env.PATH}` })
      const { hint } = asking
      await user.do(`offshoot run --task T1 -- touch b.txt && git init --quiet --bare ${home}/remote.git`)
      const asks = 'offshoot accept T1 --as pr'
      await hint('core/landing/pull-request.ts: git remote add', `${asks} --dry-run`, {
        fill: { URL: `${home}/remote.git` },
        by: () => program('gh', 'echo https://example.com/1'),
        worksNow: `${asks} --dry-run`,
      })
      program('gh', 'exit 1')
      rmSync(path.join(bin, 'gh'))
      await hint('core/landing/request.ts: Install gh', asks, {
        by: () => program('gh', 'echo no >&2; exit 1'),
        worksNow: `${asks} --dry-run`,
      })
      await hint('core/landing/pull-request.ts: The branch {} has been pushed', asks, {
        by: () => program('gh', 'echo https://example.com/1'),
        worksNow: true,
      })
      await user.do('offshoot run --task T2 -- touch c.txt')
      git('remote', 'set-url', 'origin', `${home}/other.git`)
      await user.do(`git init --quiet --bare ${home}/other.git`)
      await hint('core/landing/pull-request.ts: If that was you', 'offshoot accept T2 --as pr', {
        shows: /pull request/,
      })
      await user.do('offshoot start T3')
      await hint('core/landing/pull-request.ts: offshoot reject {} discards', 'offshoot accept T3 --as pr', {
        shows: /Rejected T3/,
      })
      await user.do('offshoot run --task T4 -- touch d.txt')
      rmSync(path.join(home, 'other.git'), { recursive: true })
      await hint('vault/publish/push.ts: Nothing has changed here', 'offshoot accept T4 --as pr', {
        ends: { 'git push': 128 },
        shows: /other\.git/,
        by: () => user.do(`git init --quiet --bare ${home}/other.git`),
        worksNow: true,
      })
      const ops = (await user.do('offshoot ops')).stdout
      const final = /(\w+) +accept +T4/.exec(ops)?.[1]
      await hint('core/verbs/undo.ts: offshoot ops lists the other', `offshoot undo ${final}`, {
        shows: /reject/,
      })
    },
  },
  {
    name: 'a submodule, and branches that are used elsewhere',
    async play(meet) {
      const user = meet()
      const { hint } = user
      const { git, home } = user.user
      const allow = 'git config --global protocol.file.allow always'
      await user.do(
        `${allow} && git init --quiet ${home}/lib && cd ${home}/lib && git commit --quiet --allow-empty -m lib`,
      )
      await user.do(`git submodule --quiet add ${home}/lib lib && git commit --quiet -m lib`)
      const commit = `cd lib && touch x && git add x && git commit --quiet -m x`
      await user.do(`offshoot run --task T1 -- sh -c '${commit}; cd .. && touch b.txt'`)
      const part = 'offshoot accept T1 --as patch --allow lib'
      await hint('cli/commands/accept.ts: land it as a commit', part, { shows: /Accepted T1/ })
      await user.do(`offshoot run --task T2 -- sh -c '${commit.replaceAll(' x', ' y')}'`)
      await hint('core/landing/preview.ts: Land them as a commit', 'offshoot accept T2 --allow lib', {
        worksNow: (said) => `offshoot accept T2 --allow lib ${said.split(': ')[1]}`,
      })
      const added = `git submodule --quiet add ${home}/lib more && cd more && git commit --quiet --allow-empty -m x`
      await user.do(`offshoot run --task T3 -- sh -c '${added}'`)
      await hint('core/landing/modules.ts: Push it', 'offshoot accept T3 --as squash --allow more', {
        worksNow: true,
      })
      git('branch', 'mine')
      const told = await user.do(`offshoot run --task T4 -- sh -c "git -C ${user.user.dir} branch made"`)
      git('worktree', 'add', '--quiet', path.join(home, 'made'), 'made')
      const undo = /offshoot undo \w+/.exec(told.stderr + told.stdout)?.[0] ?? ''
      await hint('core/verbs/undo.ts: Leave that branch first', undo, { worksNow: true })
    },
  },
])
