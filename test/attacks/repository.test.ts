/** Which repository it is: attacks by another local user, and by folders of a repository that pretend to be one. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import {
  attacker as attackerUid,
  giveTo,
  readablePackage,
  runAs,
  victim as victimUid,
  whyNoUsers,
} from '../support/as-user.ts'
import { offshoot, tempFolder, testRepo } from '../support/repo.ts'
import { inFolder } from '../support/workspace.ts'

const missing = whyNoUsers()
if (missing) console.warn(`Attacks by other users are skipped: ${missing}.`)
const alone = missing !== undefined

interface UserAt {
  readonly uid: number
  readonly cwd: string
  readonly env: Record<string, string>
}

const asUser = ({ uid, ...place }: UserAt, ...argv: string[]) => runAs(uid, argv, place)

const offshootAs = (user: UserAt, ...args: string[]) =>
  asUser(user, process.execPath, readablePackage(), ...args)

/** A victim with a repository, in which sparse checkout was used once, and a folder that everybody may write. */
function stage() {
  const repo = testRepo()
  repo.git('config', 'extensions.worktreeConfig', 'true')
  giveTo(victimUid, repo.home)
  chmodSync(repo.home, 0o755)
  const shared = tempFolder()
  chmodSync(shared, 0o1777)
  const victim: UserAt = { uid: victimUid, cwd: repo.dir, env: repo.env }
  const attacker: UserAt = { uid: attackerUid, cwd: shared, env: { PATH: repo.env.PATH ?? '' } }
  return { repo, shared, victim, attacker }
}

/** A folder of the attacker's whose `.git` names the victim's repository, with a filter in a config of its own. */
function lure(attacker: UserAt, commonDir: string): string {
  const script = `
    mkdir mine evilgit
    echo "gitdir: $PWD/evilgit" > mine/.git
    echo '${commonDir}' > evilgit/commondir
    echo 'ref: refs/heads/main' > evilgit/HEAD
    echo "$PWD/mine/.git" > evilgit/gitdir
    printf '[core]\\n\\tattributesFile=%s\\n[filter "x"]\\n\\tsmudge="id > %s; cat"\\n' "$PWD/attrs" "$PWD/PWNED" > evilgit/config.worktree
    echo '* filter=x' > attrs
    touch PWNED; chmod 666 PWNED`
  expect(asUser(attacker, 'sh', '-ec', script)).toMatchObject({ code: 0 })
  return path.join(attacker.cwd, 'mine')
}

test.skipIf(alone)('L17, H1: a folder of another user does not lead into one’s own repository', () => {
  const { repo, shared, victim, attacker } = stage()
  const mine = lure(attacker, path.join(repo.dir, '.git'))
  const { code, stdout } = offshootAs({ ...victim, cwd: mine }, 'start', 'hello', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'WT_009', path: expect.any(String) } })
  expect(code).toBe(6)
  expect(execFileSync('cat', [path.join(shared, 'PWNED')], { encoding: 'utf8' })).toBe('')
})

test.skipIf(alone).each([
  ['the folder', 'one'],
  ['the git folder', 'repo/.git/worktrees/one'],
  ['.git', 'one/.git'],
])(
  'L17, H1: %s of a worktree that belongs to another user is refused, until safe.directory names it',
  (_, part) => {
    const { repo, victim } = stage()
    const one = { ...victim, cwd: path.join(repo.home, 'one') }
    asUser(victim, 'git', 'worktree', 'add', '--quiet', '-b', 'one', one.cwd)
    execFileSync('chown', [`${attackerUid}`, path.join(repo.home, part)])
    execFileSync('chmod', ['-R', 'a+rwX', repo.dir, one.cwd])
    const first = JSON.parse(offshootAs(one, 'start', 'T1', '--json').stdout)
    expect(first.error).toMatchObject({ code: 'WT_009', hint: expect.stringContaining('safe.directory') })
    expect(asUser(one, 'sh', '-c', first.error.hint.replace(/^[^:]*: /, ''))).toMatchObject({ code: 0 })
    expect(JSON.parse(offshootAs(one, 'start', 'T1', '--json').stdout)).toMatchObject({ ok: true })
  },
)

test('L17, H1: a worktree that its repository has registered for another folder is refused', async () => {
  const repo = testRepo()
  const [one, two] = [path.join(repo.home, 'one'), path.join(repo.home, 'two')]
  repo.git('worktree', 'add', '--quiet', '-b', 'one', one)
  mkdirSync(two)
  writeFileSync(path.join(two, '.git'), `gitdir: ${path.join(repo.dir, '.git/worktrees/one')}\n`)
  const { json } = await offshoot(inFolder(repo, two), 'start', 'T1', '--json')
  expect(json.error).toMatchObject({ code: 'WT_009', message: expect.stringContaining('not registered') })
  expect((await offshoot(inFolder(repo, one), 'start', 'T1', '--json')).json).toMatchObject({ ok: true })
})

test('L17, H1: a tracked folder with the looks of a bare repository is none, unless the user names it', async () => {
  const repo = testRepo()
  const bare = path.join(repo.dir, 'docs')
  repo.git('clone', '--quiet', '--bare', repo.dir, bare)
  const canary = path.join(repo.home, 'canary')
  writeFileSync(path.join(bare, 'info/attributes'), '* filter=x\n')
  writeFileSync(
    path.join(bare, 'config'),
    `[core]\n\tbare = true\n[filter "x"]\n\tsmudge = "touch ${canary}; cat"\n`,
  )
  for (const folder of [bare, path.join(bare, 'refs')]) {
    const { json } = await offshoot(inFolder(repo, folder), 'start', 'b1', '--json')
    expect(json.error).toMatchObject({ code: 'WT_009', hint: expect.stringContaining(`-C ${bare} `) })
  }
  expect(existsSync(canary)).toBe(false)
  expect((await offshoot(repo, '-C', bare, 'start', 'b2', '--json')).json).toMatchObject({ ok: true })
  // From then on it is known, and named no more.
  expect((await offshoot(inFolder(repo, bare), 'list', '--json')).json).toMatchObject({ ok: true })
  const apart = path.join(repo.home, 'apart.git')
  renameSync(bare, apart)
  expect((await offshoot(inFolder(repo, apart), 'start', 'b3', '--json')).json).toMatchObject({ ok: true })
})
