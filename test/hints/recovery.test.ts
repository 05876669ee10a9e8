/** Hints of doctor, repair and recover. */
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Person } from '../support/hints/person.ts'
import { tryHints } from '../support/hints/try-hints.ts'

const stateOf = ({ user }: Person) => user.env.OFFSHOOT_HOME ?? ''

function vaultOf(person: Person): string {
  const vaults = path.join(stateOf(person), 'vaults')
  return path.join(vaults, readdirSync(vaults)[0] ?? '')
}

function loseRecords(person: Person): void {
  for (const name of readdirSync(stateOf(person)))
    if (name.startsWith('state.db')) rmSync(path.join(stateOf(person), name))
}

const pathOf = async (person: Person, task: string) => (await person.do(`offshoot cd ${task}`)).stdout.trim()

const isSound = 'offshoot doctor --json | grep -v \'"status":"\\(warn\\|fail\\)"\''

tryHints(import.meta.filename, [
  {
    name: 'a repository and its tasks that lack something',
    async play(meet) {
      const user = meet()
      const { hint } = user
      const { git, dir, home } = user.user
      await user.do('offshoot run --task T1 -- touch b.txt && offshoot run --task T2 -- touch c.txt')
      const at = await pathOf(user, 'T1')
      git('update-ref', '-d', 'refs/offshoot/repo')
      await hint('core/recovery/judge.ts: offshoot repair{}', 'offshoot doctor', { worksNow: isSound })
      rmSync(at, { recursive: true })
      await hint('core/recovery/judge.ts: offshoot repair {}{}', 'offshoot doctor', { worksNow: isSound })
      const stale = new Date(Date.now() - 600_000)
      const lock = path.join(dir, '.git', 'HEAD.lock')
      writeFileSync(lock, '')
      utimesSync(lock, stale, stale)
      await hint('core/recovery/judge.ts: If no git is at work there: rm', 'offshoot doctor', {
        worksNow: isSound,
      })
      const half = path.join(home, 'half')
      git('worktree', 'add', '--quiet', '--detach', half)
      writeFileSync(path.join(dir, '.git', 'worktrees', 'half', 'locked'), 'initializing')
      await hint('core/recovery/judge.ts: If no git is at work there: git', 'offshoot doctor', {
        worksNow: isSound,
      })
      git('update-ref', 'refs/offshoot/base/aaaaaaaaaaaaaaaaaaaa', 'HEAD')
      await hint('core/recovery/judge.ts: If there is none: git{} update-ref', 'offshoot doctor', {
        worksNow: isSound,
      })
      const other = user.with({ OFFSHOOT_HOME: path.join(home, 'other-state') })
      await other.do('offshoot start X1')
      await hint('core/recovery/judge.ts: If there is none: git{} worktree', 'offshoot doctor', {
        shows: /^/,
        worksNow: 'offshoot doctor | grep -c "no task of this state folder has it" | grep -v 2',
      })
      await other.do('offshoot reject X1')
      git('-C', at, 'switch', '--quiet', '-c', 'aside')
      await hint('cli/commands/show.ts: {}: offshoot repair {} goes', 'offshoot show T1', {
        worksNow: 'offshoot show T1 | grep -v "checked out"',
      })
      git('-C', at, 'switch', '--quiet', 'aside')
      git('-C', at, 'commit', '--quiet', '--allow-empty', '-m', 'aside')
      await hint('core/recovery/mend.ts: Join them', 'offshoot repair T1', { worksNow: true })
      await user.do(
        'git switch --quiet -c apart main && echo 1 > d.txt && git add d.txt && git commit --quiet -m apart',
        at,
      )
      await user.do('echo 2 > e.txt && offshoot checkpoint', at)
      await hint('core/recovery/mend.ts: Join them', 'offshoot repair T1', {
        worksNow: 'offshoot repair T1 && git log offshoot/T1 | grep apart && git show offshoot/T1:e.txt',
      })
      const strange = path.join(path.dirname(at), 'strange')
      mkdirSync(strange)
      await hint('core/recovery/judge.ts: Look into it, and move it away if', 'offshoot doctor', {
        by: () => renameSync(strange, path.join(home, 'strange')),
        worksNow: isSound,
      })
      await user.do('offshoot reject T1')
      mkdirSync(at)
      await hint('core/recovery/judge.ts: Look into it, and move it away.', 'offshoot doctor', {
        by: () => renameSync(at, path.join(home, 'look')),
        worksNow: isSound,
      })
      mkdirSync(at)
      await hint('core/model/errors.ts: Move what is there away', 'offshoot undo', {
        by: () => rmSync(at, { recursive: true }),
        worksNow: true,
      })
      rmSync(path.join(vaultOf(user), 'HEAD'))
      await hint('core/recovery/judge.ts: offshoot repair{}', 'offshoot doctor', { worksNow: isSound })
    },
  },
  {
    name: 'what closed tasks left',
    async play(meet) {
      const user = meet()
      const { hint } = user
      const { git, dir } = user.user
      await user.do('offshoot run --task T1 -- touch b.txt')
      const at = await pathOf(user, 'T1')
      const pin = git('for-each-ref', '--format=%(refname)', 'refs/offshoot/base').trim()
      const registration = path.join(dir, '.git', 'worktrees', path.basename(at))
      const keep = path.join(user.user.home, 'kept')
      cpSync(registration, `${keep}-registration`, { recursive: true })
      cpSync(at, keep, { recursive: true })
      await user.do('offshoot reject T1')
      const leave = () => {
        cpSync(`${keep}-registration`, registration, { recursive: true })
        cpSync(keep, at, { recursive: true })
        git('-C', at, 'checkout', '--quiet', '--detach', 'main')
      }
      git('update-ref', pin, 'HEAD')
      await hint('core/recovery/judge.ts: offshoot recover', 'offshoot doctor', { worksNow: isSound })
      leave()
      await hint('core/recovery/judge.ts: offshoot recover moves', 'offshoot doctor', { worksNow: isSound })
      leave()
      writeFileSync(path.join(at, 'dirt.txt'), 'dirt\n')
      await hint('core/recovery/mend.ts: Look into it. If nobody', 'offshoot repair', { worksNow: isSound })
      leave()
      git('-C', at, 'commit', '--quiet', '--allow-empty', '-m', 'detached')
      await hint('core/recovery/mend.ts: git -C {} switch --create', 'offshoot repair', { worksNow: true })
    },
  },
  {
    name: 'lost records and vaults',
    async play(meet) {
      const user = meet()
      const { hint } = user
      const { dir, home } = user.user
      await user.do('offshoot run --task T1 -- touch b.txt')
      loseRecords(user)
      await hint('core/recovery/judge.ts: offshoot repair --rebuild', 'offshoot doctor', {
        shows: /Rebuilt 1 task/,
        worksNow: 'offshoot show T1',
      })
      loseRecords(user)
      await user.do('offshoot start T1 --branch other')
      await hint('core/tasks/guards.ts: Close that one first', 'offshoot repair --rebuild', {
        after: (command) => command.includes('reject') && user.do('offshoot undo'),
        shows: /T1/,
        worksNow: true,
      })
      const note = path.join(vaultOf(user), 'repo.json')
      const noted = readFileSync(note, 'utf8')
      const restore = () => {
        rmSync(note, { recursive: true })
        writeFileSync(note, noted)
      }
      loseRecords(user)
      rmSync(note)
      mkdirSync(note)
      await hint('core/recovery/judge.ts: Make it readable', 'offshoot doctor', {
        by: restore,
        worksNow: 'offshoot repair --rebuild',
      })
      loseRecords(user)
      rmSync(note)
      mkdirSync(note)
      await hint('core/recovery/rebuild.ts: Make it readable', 'offshoot repair --rebuild', {
        by: restore,
        worksNow: true,
      })
      loseRecords(user)
      rmSync(note)
      await hint('core/recovery/judge.ts: offshoot repair --rebuild in that', 'offshoot doctor', {
        in: home,
        goes: dir,
        shows: /Rebuilt/,
      })
      loseRecords(user)
      rmSync(note, { force: true })
      await hint('core/recovery/rebuild.ts: Repeat it in that', 'offshoot repair --rebuild', {
        in: home,
        goes: dir,
        shows: /Rebuilt/,
        worksNow: 'offshoot show T1',
      })
      writeFileSync(path.join(stateOf(user), 'state.db'), 'no database')
      await hint('store/errors.ts: offshoot repair --rebuild', 'offshoot list', {
        shows: /Rebuilt/,
        worksNow: true,
      })
      const db = new DatabaseSync(path.join(stateOf(user), 'state.db'))
      db.exec("UPDATE tasks SET summary = '{}' WHERE open = 1")
      db.close()
      await hint('core/verbs/doctor.ts: offshoot repair --rebuild', 'offshoot doctor', { worksNow: isSound })
      const packed = path.join(vaultOf(user), 'packed-refs')
      rmSync(packed, { force: true })
      mkdirSync(packed)
      await hint('core/verbs/orphans.ts: Make it readable', 'offshoot doctor --orphans', {
        by: () => rmSync(packed, { recursive: true }),
        worksNow: true,
      })
    },
  },
  {
    name: 'a vault that is gone, or lacks steps',
    async play(meet) {
      const user = meet({ '.gitattributes': '* text eol=crlf\n' })
      const { hint } = user
      // The vault alone has the bytes as the agent wrote them.
      await user.do(`offshoot run --task T1 -- sh -c "printf '1\\r\\n' > b.txt"`)
      const vault = vaultOf(user)
      const backup = path.join(user.user.home, 'backup')
      cpSync(vault, backup, { recursive: true })
      const restore = () => {
        rmSync(vault, { recursive: true, force: true })
        cpSync(backup, vault, { recursive: true })
      }
      rmSync(vault, { recursive: true })
      await hint('core/recovery/judge.ts: Bring it back', 'offshoot doctor', {
        by: restore,
        worksNow: isSound,
      })
      const tips = path.join(vault, 'refs', 'tasks')
      const [uid = ''] = readdirSync(tips)
      const tip = readFileSync(path.join(tips, uid), 'utf8').trim()
      rmSync(path.join(tips, uid))
      await hint('vault/journal/lost.ts: offshoot repair {} brings', 'offshoot diff T1', { worksNow: true })
      const commit = path.join(vault, 'objects', tip.slice(0, 2), tip.slice(2))
      rmSync(commit)
      await hint('vault/objects/objects.ts: offshoot doctor says more', 'offshoot diff T1', {
        ends: { 'offshoot doctor': 1 },
        shows: /its last step cannot be found/,
      })
      await hint('core/recovery/mend.ts: Bring the vault back', 'offshoot repair T1', {
        by: restore,
        worksNow: true,
      })
      const blobs = (await user.do(`git --git-dir=${vault} ls-tree -r refs/tasks/${uid}`)).stdout
      const blob = /blob (\w+)\tb\.txt/.exec(blobs)?.[1] ?? ''
      rmSync(path.join(vault, 'objects', blob.slice(0, 2), blob.slice(2)))
      await hint('core/recovery/judge.ts: Bring the vault back', 'offshoot doctor', {
        by: restore,
        worksNow: isSound,
      })
      const other = path.join(path.dirname(vault), 'other.git')
      cpSync(vault, other, { recursive: true })
      const note = readFileSync(path.join(other, 'repo.json'), 'utf8')
      writeFileSync(path.join(other, 'repo.json'), note.replace(path.basename(vault, '.git'), 'other'))
      await hint('core/recovery/rebuild.ts: The steps of these tasks', 'offshoot repair --rebuild', {
        by: () => user.do(`git --git-dir=${other} log --oneline refs/tasks/${uid} | grep b.txt`),
      })
    },
  },
  {
    name: 'repositories and checkouts that were moved or deleted',
    async play(meet) {
      const user = meet()
      const { dir, home } = user.user
      await user.do('offshoot run --task T1 -- touch b.txt')
      const moved = path.join(home, 'moved')
      renameSync(dir, moved)
      const there = user.at(moved)
      const nowhere = user.at(home)
      const gone = 'core/recovery/judge.ts: If it was moved'
      await nowhere.hint(gone, 'offshoot doctor', { goes: moved, only: /repair/, worksNow: isSound })
      const worktree = path.join(home, 'worktree')
      await there.do(`git worktree add --quiet --detach ${worktree}`)
      renameSync(moved, dir)
      const lost = 'git/locate.ts: If it is a worktree'
      await user.hint(lost, 'offshoot doctor', {
        in: worktree,
        goes: dir,
        by: () => user.do('git status', worktree),
      })
      writeFileSync(path.join(worktree, '.git'), 'damaged')
      await user.hint(lost, 'offshoot list', {
        in: worktree,
        goes: dir,
        worksNow: `offshoot list -C ${worktree}`,
      })
      await user.do('offshoot repair')
      renameSync(dir, moved)
      await there.hint('core/tasks/repo.ts: offshoot repair records', 'offshoot exec T1 -- true', {
        worksNow: true,
      })
      renameSync(moved, dir)
      await user.hint('core/verbs/doctor.ts: offshoot repair records', 'offshoot doctor', {
        worksNow: isSound,
      })
      renameSync(dir, moved)
      await there.hint('core/recovery/examine.ts: offshoot repair', 'offshoot doctor', { worksNow: isSound })
      renameSync(moved, dir)
      await user.do('offshoot repair')
      renameSync(dir, moved)
      await there.hint('cli/commands/list.ts: This repository was at', 'offshoot list', {
        shows: /moved/,
        worksNow: true,
      })
      rmSync(moved, { recursive: true })
      await nowhere.hint(gone, 'offshoot doctor', {
        only: /forget/,
        worksNow: 'offshoot doctor | grep -v "open task"',
      })
    },
  },
  {
    name: 'shadow branches and verbs that did not end',
    async play(meet) {
      const user = meet()
      const { hint } = user
      const { git, home } = user.user
      const linked = path.join(home, 'linked')
      git('worktree', 'add', '--quiet', '-b', 'mine', linked)
      const shadow = user.at(linked)
      await shadow.do('offshoot start T1 --isolation branch && touch b.txt && offshoot checkpoint T1')
      await shadow.do('git switch --quiet mine')
      await hint('core/recovery/judge.ts: git -C {} switch', 'offshoot doctor', { worksNow: isSound })
      renameSync(linked, `${linked}-moved`)
      const gone = 'core/recovery/judge.ts: Put it back'
      await hint(gone, 'offshoot doctor', {
        only: /^$/,
        by: () => renameSync(`${linked}-moved`, linked),
        worksNow: isSound,
      })
      rmSync(linked, { recursive: true })
      await hint(gone, 'offshoot doctor', { worksNow: isSound })
      const operations = path.join(vaultOf(user), 'refs', 'operations')
      const kept = path.join(home, 'operations')
      renameSync(operations, kept)
      await shadow.hint('core/operations/shadow.ts: Bring the vault back', 'offshoot reject T1', {
        by: () => {
          rmSync(operations, { recursive: true, force: true })
          renameSync(kept, operations)
        },
        worksNow: true,
      })
      await user.do('offshoot start T2')
      const pending = {
        verb: 'operation',
        operation: 'aaaaaaaaaaaaaaaaaaaa',
        staged: true,
        owner: { pid: 1, startedAt: 'never', boot: 'another' },
      }
      const db = new DatabaseSync(path.join(stateOf(user), 'state.db'))
      const change = (sql: string) => db.exec(`${sql} WHERE summary LIKE '%"id":"T2"%'`)
      change(
        `UPDATE tasks SET pending = 1, summary = json_set(summary, '$.pending', json('${JSON.stringify(pending)}'))`,
      )
      await hint('core/tasks/guards.ts: offshoot recover finishes', 'offshoot checkpoint T2', {
        shows: /Its record is gone/,
      })
      change(`UPDATE tasks SET pending = 0, summary = json_remove(summary, '$.pending')`)
      await user.do('offshoot checkpoint T2')
      db.exec("UPDATE events SET at = '2090-01-01T00:00:00.000Z' WHERE seq = (SELECT max(seq) FROM events)")
      await hint('core/verbs/doctor.ts: Set the clock', 'offshoot doctor', { shows: /\d/ })
      db.exec("UPDATE events SET at = '2020-01-01T00:00:00.000Z' WHERE seq = (SELECT max(seq) FROM events)")
      await hint('core/verbs/doctor.ts: If the clock is ahead', 'offshoot doctor', { shows: /\d/ })
      db.close()
      await user.do('offshoot checkpoint T2')
      writeFileSync(path.join(stateOf(user), 'state.json'), '{"worktrees":[]}')
      await hint('core/verbs/doctor.ts: offshoot repair{} sets', 'offshoot doctor', {
        worksNow: 'offshoot doctor | grep -v "old state"',
      })
    },
  },
  {
    name: 'an operation that several repositories may mean',
    async play(meet) {
      const [one, two] = [meet(), meet()]
      const other = two.with({ OFFSHOOT_HOME: stateOf(one) })
      const ids = async (person: Person) =>
        (await person.do('offshoot ops --json')).json.operations.map(
          ({ id }: { id: string }) => id,
        ) as string[]
      for (const person of [one, other]) await person.do('offshoot start T1 && offshoot reject T1')
      const shared = async () => {
        const firsts = new Set((await ids(one)).map((id) => id[0]))
        return (await ids(other)).find((id) => firsts.has(id[0]))
      }
      let found = await shared()
      // Each undo of an undo is one more operation, with one more first letter.
      for (let n = 0; n < 30 && found === undefined; n++) {
        for (const person of [one, other]) await person.do(`offshoot undo ${(await ids(person))[0]}`)
        found = await shared()
      }
      await one
        .at(one.user.home)
        .hint('core/verbs/undo.ts: Give more of the id', `offshoot undo ${found?.[0]}`, {
          worksNow: `offshoot undo ${(await ids(one))[0]}`,
        })
    },
  },
])
