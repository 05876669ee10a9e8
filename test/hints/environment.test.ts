/** Hints about the machine: git, disks, folders of others, processes; and those of the other doors. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import type { Person } from '../support/hints/person.ts'
import { hasTwoFileSystems, memoryRoot } from '../support/temp-folders.ts'
import { tryHints } from '../support/hints/try-hints.ts'

const stateOf = ({ user }: Person) => user.env.OFFSHOOT_HOME ?? ''

function change(person: Person, sql: string): void {
  const db = new DatabaseSync(path.join(stateOf(person), 'state.db'))
  db.exec(sql)
  db.close()
}

/** The lock whose file begins so, held by another process. */
function heldLock(person: Person, name: string): () => void {
  const folder = path.join(stateOf(person), 'locks')
  const file = readdirSync(folder).find((one) => one.startsWith(name)) ?? ''
  const db = new DatabaseSync(path.join(folder, file))
  db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  return () => db.close()
}

tryHints(import.meta.filename, [
  {
    name: 'git and other programs',
    async play(meet) {
      const user = meet()
      const { hint } = user
      const { home, dir } = user.user
      const bin = path.join(home, 'bin')
      mkdirSync(bin)
      const program = (name: string, body: string) =>
        writeFileSync(path.join(bin, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 })
      const old = user.with({ PATH: `${bin}${path.delimiter}${user.user.env.PATH}` })
      program('git', 'echo git version 2.30.0')
      await old.hint('core/model/errors.ts: Install git', 'offshoot start T1', {
        by: () => rmSync(path.join(bin, 'git')),
        worksNow: true,
      })
      await old.hint('core/model/errors.ts: Install it, or put', 'offshoot exec T1 -- frobnicate', {
        by: () => program('frobnicate', 'echo done'),
        worksNow: true,
      })
      const config = path.join(dir, '.git', 'config')
      cpSync(config, path.join(home, 'config'))
      writeFileSync(config, '[core\n')
      await hint('core/model/errors.ts: Repeat with --verbose', 'offshoot diff T1 && offshoot start T2', {
        shows: /git/,
        ends: { 'offshoot doctor': 1 },
        by: () => cpSync(path.join(home, 'config'), config),
        worksNow: 'offshoot start T2',
      })
      const hook = path.join(dir, '.git', 'hooks', 'commit-msg')
      mkdirSync(path.dirname(hook), { recursive: true })
      writeFileSync(
        hook,
        `#!/bin/sh\ntouch ${home}/asked; while ! test -e ${home}/go; do sleep 0.05; done\n`,
        { mode: 0o755 },
      )
      await user.do('offshoot exec T2 -- touch b.txt')
      const status = () => user.user.git('status', '--short') + user.user.git('rev-parse', 'HEAD')
      const before = status()
      const landing = user.type('offshoot accept T2 --as squash --hooks')
      const asked = path.join(home, 'asked')
      const cancelled = await user.interrupt(
        'offshoot accept T2 --as squash --hooks',
        () => statSync(asked, { throwIfNoEntry: false }) !== undefined,
      )
      expect(cancelled.code).not.toBe(0)
      const quick = user.with({ OFFSHOOT_LOCK_WAIT_SECONDS: '0' })
      await quick.hint('core/tasks/hold.ts: Wait for it to end', 'offshoot checkpoint T2', {
        by: async () => {
          writeFileSync(path.join(home, 'go'), '')
          expect((await landing).code).toBe(0)
        },
        worksNow: 'offshoot undo && offshoot checkpoint T2',
      })
      await user.follow('core/model/errors.ts: Nothing partial', cancelled.stderr, {
        by: () => expect(status()).toBe(before),
      })
      await user.do('offshoot prune')
      const release = heldLock(user, 'prune')
      await hint('core/model/errors.ts: Repeat the command', 'offshoot prune', {
        by: release,
        worksNow: true,
      })
    },
  },
  {
    name: 'state folders and repositories of somebody else',
    async play(meet) {
      const user = meet()
      const { hint } = user
      const { home } = user.user
      await user.do('offshoot start T1')
      const elsewhere = 'OFFSHOOT_HOME=$HOME/other-state '
      await hint('core/model/errors.ts: Make it writable', 'OFFSHOOT_HOME=/proc/nowhere offshoot list', {
        worksNow: `${elsewhere}offshoot list`,
      })
      const loose = path.join(home, 'loose')
      mkdirSync(loose)
      chmodSync(loose, 0o777)
      const open = 'OFFSHOOT_HOME=$HOME/loose/state offshoot list'
      await hint('compose/state-folder.ts: Close it', open, { worksNow: true })
      chmodSync(loose, 0o777)
      await hint('compose/state-folder.ts: {} a folder of your own', open, {
        only: /^$/,
        worksNow: `${elsewhere}offshoot list`,
      })
      change(user, 'PRAGMA user_version = 99')
      await hint('store/open.ts: Update offshoot', 'offshoot list', { worksNow: `${elsewhere}offshoot list` })
      rmSync(path.join(home, 'state'), { recursive: true })
      await hint('cli/commands/repos.ts: No repositories yet', 'offshoot repos', {
        worksNow: 'offshoot repos | grep repo',
      })
      await hint('cli/commands/repos.ts: moved {} into the trash', 'offshoot repos forget .', {
        shows: /Undid/,
      })
      const inner = path.join(home, 'fresh', 'inner.git')
      await user.do(`git init --quiet ${home}/fresh && git init --quiet --bare ${inner}`)
      await hint('git/locate.ts: If it is one of yours, name it', 'offshoot list', {
        in: inner,
        shows: /No tasks/,
      })
      await user.do(`git worktree add --quiet --detach ${home}/one && cp -r ${home}/one ${home}/two`)
      await hint('git/locate.ts: If it is one of yours: git', 'offshoot list', {
        in: path.join(home, 'two'),
        worksNow: true,
      })
      if (hasTwoFileSystems()) {
        await user.do('offshoot start T5')
        const trash = path.join(path.dirname((await user.do('offshoot cd T5')).stdout.trim()), '.trash')
        rmSync(trash, { recursive: true, force: true })
        const isInMemory = statSync(home).dev === statSync(memoryRoot()).dev
        const away = mkdtempSync(path.join(isInMemory ? os.tmpdir() : memoryRoot(), 'offshoot-trash-'))
        symlinkSync(away, trash)
        await hint('core/operations/perform.ts: See what holds it', 'offshoot reject T5', {
          by: () => rmSync(trash),
          worksNow: 'offshoot recover && offshoot list --all | grep "T5.*rejected"',
        })
        rmSync(away, { recursive: true })
      }
    },
  },
  {
    name: 'tasks that are old, or whose operations are',
    async play(meet) {
      const user = meet()
      const { hint } = user
      const prune = 'OFFSHOOT_PRUNE_MIN_KEEP=0 offshoot prune --older-than 0m'
      for (const task of ['T1', 'T2', 'T3']) await user.do(`offshoot run --task ${task} -- touch b.txt`)
      const [one = '', two = ''] = (await user.do('offshoot cd T1 && offshoot cd T2')).stdout
        .trim()
        .split('\n')
      writeFileSync(path.join(two, 'dirt.txt'), 'dirt\n')
      await hint('core/verbs/prune.ts: {} stays', prune, {
        shows: /dirt\.txt/,
        worksNow: `${prune} | grep 'T2 *pruned'`,
      })
      await user.do('offshoot undo && offshoot list')
      writeFileSync(path.join(two, 'more.txt'), 'more\n')
      await hint('core/verbs/remove.ts: offshoot checkpoint {} keeps', 'offshoot worktree remove T2', {
        worksNow: true,
        shows: /more\.txt/,
      })
      for (const task of ['T1', 'T3'])
        await user.type(
          `offshoot undo $(offshoot ops --json | grep -o '"id":"[a-z0-9]*","verb":"prune","task":"${task}"' | head -1 | cut -d'"' -f4)`,
        )
      rmSync(one, { recursive: true })
      await hint('core/closing/prune-policy.ts: its workspace is gone', 'offshoot prune', {
        shows: /T1/,
        worksNow: 'offshoot cd T1',
      })
      await hint('cli/commands/waiting.ts: offshoot diff', 'offshoot', { shows: /b\.txt/ })
      await user.do('offshoot run --task T4 -- true && offshoot start T5')
      await hint('cli/commands/waiting.ts: offshoot show', 'offshoot', { only: /T4/, shows: /T4/ })
      await hint('cli/commands/waiting.ts: {}: offshoot list', 'offshoot', { shows: /T5/ })
      const { stdout } = await user.do('offshoot reject T3 && offshoot ops')
      const rejected = /(\w+) +reject +T3/.exec(stdout)?.[1]
      change(
        user,
        `UPDATE events SET at = '2020-01-01T00:00:00.000Z' WHERE uid IN (SELECT uid FROM tasks WHERE summary LIKE '%"id":"T3"%')`,
      )
      await hint('core/trash/shrink-text.ts: Until then', 'offshoot prune', {
        shows: /T3/,
        worksNow: `offshoot undo ${rejected} && offshoot reject T3`,
      })
      change(
        user,
        `UPDATE tasks SET summary = json_set(summary, '$.expiry', 'done') WHERE summary LIKE '%"id":"T3"%'`,
      )
      await hint('core/tasks/guards.ts: offshoot list shows', 'offshoot checkpoint T3', { shows: /T4/ })
      await hint('cli/workspace-of.ts: offshoot list shows', 'offshoot cd T3', { shows: /T4/ })
      const expired = /(\w+) +reject +T3/.exec((await user.do('offshoot ops')).stdout)?.[1]
      const bin = path.join(user.user.home, 'bin')
      mkdirSync(bin)
      await user.do('offshoot run --task T6 -- touch b.txt')
      // Prune looks after a repository that is gone as well, and there it hears the Ctrl-C.
      await user.do('git clone --quiet . ../gone && offshoot -C ../gone start G1 && rm -r ../gone')
      const six = (await user.do('offshoot cd T6')).stdout.trim()
      const ready = path.join(user.user.home, 'ready')
      // A git that takes its time once the workspace is gone: on a nearly full disk, prune then looks into the trash.
      writeFileSync(
        path.join(bin, 'git'),
        `#!/bin/sh\ntest -d ${six} || { touch ${ready}; sleep 600; }\nexec ${execFileSync('which', ['git'], { encoding: 'utf8' }).trim()} "$@"\n`,
        { mode: 0o755 },
      )
      const slow = user.with({
        PATH: `${bin}${path.delimiter}${user.user.env.PATH}`,
        OFFSHOOT_PRUNE_MIN_KEEP: '0',
        OFFSHOOT_DISK_WARN_PERCENT: '1',
      })
      const cancelled = await slow.interrupt('offshoot prune --older-than 0m', () => existsSync(ready))
      await user.follow('core/verbs/prune.ts: offshoot ops lists', cancelled.stderr, { shows: /T6|Undid/ })
      await hint('core/verbs/undo.ts: The setting trash.keepDays', `offshoot undo ${expired}`, {
        worksNow: 'offshoot config | grep trash.keepDays',
      })
    },
  },
  {
    name: 'refs that only a newer git can convert',
    needs: {
      why: gitVersion() < 246 ? 'git before 2.46 has neither such refs nor the command' : undefined,
      hints: ['core/tasks/repo.ts: git refs migrate'],
    },
    async play(meet) {
      const user = meet()
      await user.do('git refs migrate --ref-format=reftable')
      await user.hint('core/tasks/repo.ts: git refs migrate', 'offshoot start T1', { worksNow: true })
    },
  },
  {
    name: 'a full disk, a mount, and a repository of another user',
    needs: {
      why: whyNoMounts(),
      hints: [
        'core/model/errors.ts: Free some space',
        'files/remove.ts: Unmount it, then repeat',
        'git/locate.ts: If you trust it',
      ],
    },
    async play(meet) {
      const user = meet({ 'big.txt': 'x\n'.repeat(2_000_000) })
      const { home } = user.user
      const small = path.join(home, 'small')
      mkdirSync(small, { mode: 0o700 })
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m,mode=700', 'tmpfs', small])
      try {
        await user
          .with({ OFFSHOOT_HOME: small })
          .hint('core/model/errors.ts: Free some space', 'offshoot start T1', {
            by: () => execFileSync('mount', ['-o', 'remount,size=64m', small]),
            worksNow: true,
          })
      } finally {
        execFileSync('umount', ['--lazy', small])
      }
      const pool = user.with({ OFFSHOOT_POOL_SIZE: '1' })
      await pool.do('offshoot pool')
      const slot = (await user.do(`ls -d ${home}/state/workspaces/*/.pool/*/files`)).stdout.trim()
      mkdirSync(path.join(slot, 'mount'))
      execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', path.join(slot, 'mount')])
      try {
        await pool.hint('files/remove.ts: Unmount it', 'offshoot pool --clear', { worksNow: true })
      } finally {
        // It may have been renamed on the way.
        for (const [place = ''] of readFileSync('/proc/self/mounts', 'utf8').matchAll(/(?<= )\/\S+/g))
          if (place.startsWith(`${home}/`)) spawnSync('umount', ['--lazy', place])
      }
      await user.do('git clone --quiet --no-checkout . ../foreign')
      execFileSync('chown', ['-R', '20001', path.join(home, 'foreign')])
      await user.hint('git/locate.ts: If you trust it', 'offshoot list', {
        in: path.join(home, 'foreign'),
        worksNow: true,
      })
    },
  },
])

function gitVersion(): number {
  const [, major = '0', minor = '0'] =
    /(\d+)\.(\d+)/.exec(execFileSync('git', ['version'], { encoding: 'utf8' })) ?? []
  return Number(major) * 100 + Number(minor)
}

/** Why no file system can be mounted here; undefined where it can. */
function whyNoMounts(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'only root can mount, and give files away'
  const folder = mkdtempSync(path.join(memoryRoot(), 'offshoot-mount-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', folder])
  if (status === 0) spawnSync('umount', [folder])
  rmSync(folder, { recursive: true })
  return status === 0 ? undefined : 'mount is not allowed here'
}
