import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { offshoot, testRepo, type TestRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'

interface Told {
  readonly what: string
  readonly before: string | null
  readonly after: string | null
  readonly mode?: { readonly before: string; readonly after: string }
  readonly kept?: boolean
  readonly commits?: object
}

const inGit = (repo: TestRepo, name: string) => path.join(repo.dir, '.git', name)

/** Everything of the git folder that a user could miss: text and permissions of each file, and the entries of the index. */
function gitFolder(repo: TestRepo): Record<string, string> {
  const found: Record<string, string> = {}
  const add = (name: string) => {
    if (/^(objects\/([0-9a-f]{2}|pack)|logs|refs|worktrees|index$|packed-refs|offshoot-)/.test(name)) return
    const file = inGit(repo, name)
    const stat = lstatSync(file)
    if (stat.isDirectory()) for (const inner of readdirSync(file)) add(`${name}/${inner}`)
    else found[name] = `${(stat.mode & 0o777).toString(8)} ${readFileSync(file, 'utf8')}`
  }
  for (const name of readdirSync(inGit(repo, '.'))) add(name)
  return { ...found, index: repo.git('ls-files', '--stage', '-v') }
}

/** A repository with what the attacks change, and the agent of T1, who runs a script in its workspace. */
async function strayed(script: (git: string) => string, prepare?: (repo: TestRepo) => void) {
  const repo = withStandIn(testRepo())
  writeFileSync(inGit(repo, 'hooks/post-commit'), '#!/bin/sh\nexit 0\n')
  chmodSync(inGit(repo, 'hooks/post-commit'), 0o644)
  prepare?.(repo)
  await offshoot(repo, 'start', 'T1')
  const before = gitFolder(repo)
  // In a file, because the policy reads lines, not programs.
  const program = path.join(repo.home, 'attack.sh')
  writeFileSync(program, `set -e; ${script(inGit(repo, '.'))}`)
  const prompt = play({ sh: `sh '${program}'` })
  const { json } = await offshoot(repo, 'run', '--task', 'T1', '--json', prompt)
  const told = new Map((json.strays as Told[]).map((stray) => [stray.what, stray]))
  return { repo, before, told, operation: json.operation as string }
}

const module = (repo: TestRepo) => {
  mkdirSync(inGit(repo, 'modules/lib/deep/hooks'), { recursive: true })
  writeFileSync(inGit(repo, 'modules/lib/deep/HEAD'), 'ref: refs/heads/main\n')
  writeFileSync(inGit(repo, 'modules/lib/deep/config'), '[core]\n')
}

describe('M2: what an agent changed in the git folder is told, and undo puts it back', () => {
  test.each<[string, string[], (git: string) => string, ((repo: TestRepo) => void)?]>([
    [
      'core.fsmonitor in config.worktree',
      ['config', 'config.worktree'],
      (git) =>
        `git config extensions.worktreeConfig true; printf '[core]\\n\\tfsmonitor = evil\\n' > '${git}/config.worktree'`,
    ],
    [
      'HEAD of the checkout, on a new branch',
      ['refs/heads/other', 'HEAD'],
      (git) => `git branch other; git --git-dir='${git}' symbolic-ref HEAD refs/heads/other`,
    ],
    [
      'flags of the index',
      ['index'],
      (git) => `cd '${git}/..'; env -u GIT_DIR git -C . update-index --assume-unchanged a.txt`,
    ],
    [
      'a hook of a submodule',
      ['modules/lib/deep/hooks/post-checkout', 'modules/lib/deep/config'],
      (git) =>
        `cd '${git}/modules/lib/deep'; echo evil > hooks/post-checkout; chmod +x hooks/post-checkout; echo '[x]' >> config`,
      module,
    ],
    ['a hook that can be run now', ['hooks/post-commit'], (git) => `chmod +x '${git}/hooks/post-commit'`],
    ['a config that everybody may write', ['config'], (git) => `chmod 666 '${git}/config'`],
    ['hooks that are gone', ['hooks/post-commit'], (git) => `rm '${git}/hooks/post-commit'`],
    ['grafts', ['info/grafts'], (git) => `git rev-parse HEAD > '${git}/info/grafts'`],
    [
      'other objects',
      ['objects/info/alternates'],
      (git) => `mkdir -p '${git}/objects/info'; echo /tmp > '${git}/objects/info/alternates'`,
    ],
    ['commondir', ['commondir'], (git) => `echo . > '${git}/commondir'`],
    [
      'a link instead of a hook',
      ['hooks/post-commit'],
      (git) => `ln -sf /bin/true '${git}/hooks/post-commit'`,
    ],
    ['shallow', ['shallow'], (git) => `git rev-parse HEAD > '${git}/shallow'`],
  ])('M2: %s', async (_, names, script, prepare) => {
    const { repo, before, told, operation } = await strayed(script, prepare)
    expect([...told.keys()].sort()).toEqual(names.toSorted())
    for (const { before: old, after, mode, kept } of told.values()) {
      expect(old !== after || mode !== undefined).toBe(true)
      expect(kept).toBe(true)
    }
    expect(gitFolder(repo)).not.toEqual(before)
    expect(await offshoot(repo, 'undo', operation)).toMatchObject({ code: 0 })
    expect(gitFolder(repo)).toEqual(before)
    expect(repo.git('symbolic-ref', 'HEAD').trim()).toBe('refs/heads/main')
    expect(repo.git('for-each-ref', 'refs/heads/other')).toBe('')
  })

  test('M2: a folder of hooks that core.hooksPath names, in the checkout and outside of it', async () => {
    for (const isOutside of [false, true]) {
      let folder = ''
      const { repo, told, operation } = await strayed(
        () => `echo evil >> '${folder}/pre-commit'; echo more > '${folder}/post-merge'`,
        (made) => {
          folder = path.join(isOutside ? made.home : made.dir, 'my-hooks')
          mkdirSync(folder)
          writeFileSync(path.join(folder, 'pre-commit'), '#!/bin/sh\n')
          made.git('config', 'core.hooksPath', isOutside ? folder : 'my-hooks')
        },
      )
      expect([...told.keys()].sort()).toEqual([`${folder}/post-merge`, `${folder}/pre-commit`])
      expect(await offshoot(repo, 'undo', operation)).toMatchObject({ code: 0 })
      expect(readFileSync(path.join(folder, 'pre-commit'), 'utf8')).toBe('#!/bin/sh\n')
      expect(existsSync(path.join(folder, 'post-merge'))).toBe(false)
    }
  })

  test('M2: a folder that the agent itself names in core.hooksPath is not emptied by the undo', async () => {
    const { repo, told, operation } = await strayed(
      () => `mkdir -p "$HOME/mine"; echo x > "$HOME/mine/keep"; git config core.hooksPath "$HOME/mine"`,
    )
    expect([...told.keys()]).toEqual(['config'])
    expect(await offshoot(repo, 'undo', operation)).toMatchObject({ code: 0 })
    expect(existsSync(path.join(repo.home, 'mine/keep'))).toBe(true)
  })

  test('M2: what somebody has changed again since is not overwritten, and nothing is put back', async () => {
    const { repo, operation } = await strayed(
      (git) => `git tag theirs; echo evil >> '${git}/hooks/post-commit'`,
    )
    writeFileSync(inGit(repo, 'hooks/post-commit'), 'mine\n')
    const after = gitFolder(repo)
    expect(await offshoot(repo, 'undo', operation, '--json')).toMatchObject({
      code: 4,
      json: { error: { code: 'WT_011', message: expect.stringContaining('hooks/post-commit (changed)') } },
    })
    expect(gitFolder(repo)).toEqual(after)
    expect(repo.git('tag', '--list').trim()).toBe('theirs')
  })

  test('M2: when a folder of hooks cannot be made again, the undo changes nothing, and works later', async () => {
    let outer = ''
    const { repo, operation } = await strayed(
      () => `git tag theirs; rm -r '${outer}/hooks'`,
      (made) => {
        outer = path.join(made.home, 'outer')
        mkdirSync(path.join(outer, 'hooks'), { recursive: true })
        writeFileSync(path.join(outer, 'hooks/pre-commit'), '#!/bin/sh\n')
        made.git('config', 'core.hooksPath', path.join(outer, 'hooks'))
      },
    )
    rmSync(outer, { recursive: true })
    symlinkSync('/nowhere/at/all', outer)
    expect((await offshoot(repo, 'undo', operation)).code).not.toBe(0)
    expect(repo.git('tag', '--list').trim()).toBe('theirs')
    rmSync(outer)
    expect(await offshoot(repo, 'undo', operation)).toMatchObject({ code: 0 })
    expect(readFileSync(path.join(outer, 'hooks/pre-commit'), 'utf8')).toBe('#!/bin/sh\n')
    expect(repo.git('tag', '--list')).toBe('')
  })

  test('M2: a file that is too large to keep is told, without a promise to put it back', async () => {
    const { told, operation } = await strayed(
      (git) => `head -c 2000000 /dev/zero > '${git}/info/attributes'; mkfifo '${git}/hooks/pipe'`,
    )
    expect(told.get('info/attributes')).toMatchObject({ kept: false, before: null })
    expect(told.get('hooks/pipe')).toMatchObject({ kept: false, after: 'special' })
    expect(operation).toBeUndefined()
  })

  test('M2: a git status of the user during the run is no stray', async () => {
    const { told } = await strayed((git) => `sleep 1.1; touch '${git}/../a.txt'; cd '${git}/..'; git status`)
    expect([...told.keys()]).toEqual([])
  })
})

/** The files of the checkout, without the git folder. */
function checkoutFiles(repo: TestRepo): Record<string, string> {
  const names = readdirSync(repo.dir).filter((name) => name !== '.git')
  return Object.fromEntries(names.map((name) => [name, readFileSync(path.join(repo.dir, name), 'utf8')]))
}

const withEdits = (repo: TestRepo) => {
  repo.write('b.txt', 'b\n')
  repo.write('.gitignore', '*.log\n')
  repo.git('add', '.')
  repo.git('commit', '--quiet', '--message=More')
  repo.write('b.txt', 'b\nmine\n')
  repo.write('notes.txt', 'my notes\n')
  repo.write('old.log', 'ignored\n')
}

describe('P1: what an agent changed in the checkout is told, and undo puts it back', () => {
  const script = (git: string) =>
    `cd '${git}/..'; echo evil >> a.txt; echo evil > b.txt; rm notes.txt; echo s > stray.txt; echo l > new.log; chmod +x a.txt`

  test('P1: clean, edited, untracked and new files are told by name; the index is not written; undo restores them', async () => {
    const { repo, told, operation } = await strayed(script, withEdits)
    const names = ['a.txt', 'b.txt', 'notes.txt', 'stray.txt']
    expect([...told.keys()].sort()).toEqual(names)
    for (const stray of told.values()) expect(stray).toMatchObject({ where: 'checkout', kept: true })
    expect([told.get('stray.txt')?.before, told.get('notes.txt')?.after]).toEqual([null, null])
    const { stdout, code } = await offshoot(repo, 'show', 'T1')
    expect(code).toBe(0)
    expect(stdout).toContain(
      'changed in your checkout during the run, by the agent or by you: a.txt (changed)',
    )
    expect(stdout).toContain(`undo: offshoot undo ${operation.slice(0, 6)} puts them back`)
    expect((await offshoot(repo, 'show', 'T1', '--json')).json.strays).toHaveLength(4)
    expect(await offshoot(repo, 'undo', operation)).toMatchObject({ code: 0 })
    expect(checkoutFiles(repo)).toEqual({
      '.gitignore': '*.log\n',
      'a.txt': 'one\n',
      'b.txt': 'b\nmine\n',
      'notes.txt': 'my notes\n',
      'old.log': 'ignored\n',
      'new.log': 'l\n',
    })
    expect(repo.git('status', '--porcelain')).toBe(' M b.txt\n?? notes.txt\n')
    expect((await offshoot(repo, 'show', 'T1')).stdout).not.toContain('offshoot undo')
  })

  test('P1: a file that was changed again since is left, and the undo says so', async () => {
    const { repo, operation } = await strayed(script, withEdits)
    repo.write('a.txt', 'mine, later\n')
    const { code, json } = await offshoot(repo, 'undo', operation, '--json')
    expect({ code, left: json.left }).toEqual({ code: 0, left: ['a.txt'] })
    expect(checkoutFiles(repo)).toMatchObject({ 'a.txt': 'mine, later\n', 'b.txt': 'b\nmine\n' })
    expect(existsSync(path.join(repo.dir, 'stray.txt'))).toBe(false)
    expect(await offshoot(repo, 'undo', json.operation)).toMatchObject({ code: 0 })
    expect(checkoutFiles(repo)).toMatchObject({
      'a.txt': 'mine, later\n',
      'b.txt': 'evil\n',
      'stray.txt': 's\n',
    })
  })

  test('P1: what a rule no longer ignores is not new, and a run that changes nothing leaves the index as it is', async () => {
    const { repo, told } = await strayed((git) => `: > '${git}/../.gitignore'`, withEdits)
    expect([...told.keys()]).toEqual(['.gitignore'])
    const index = readFileSync(inGit(repo, 'index'))
    await offshoot(repo, 'exec', 'T1', '--', 'true')
    expect(readFileSync(inGit(repo, 'index')).equals(index)).toBe(true)
  })

  test('P1: of a config the keys are told', async () => {
    const { told } = await strayed(() => 'git config alias.x y; git config core.pager less')
    expect(told.get('config')).toMatchObject({ kept: true, keys: ['alias.x', 'core.pager'] })
  })
})

describe('P3: a commit that may be the user’s is told, and not part of the undo', () => {
  const inCheckout = (git: string, script: string) => `(cd '${git}/..'; ${script})`

  test.each<[string, (git: string) => string, string]>([
    [
      'a commit on the branch of the checkout',
      (git) => inCheckout(git, 'echo m > m.txt; git add m.txt; git commit -qm mine'),
      ' reset --keep',
    ],
    [
      'a merge of the work',
      (git) =>
        `echo w > w.txt; git add w.txt; git commit -qm work; ${inCheckout(git, 'git merge -q offshoot/T1')}`,
      ' reset --keep',
    ],
    [
      'a commit on another branch',
      (git) =>
        inCheckout(git, 'git update-ref refs/heads/side "$(git commit-tree -p HEAD -m mine HEAD^{tree})"'),
      'git branch --force side',
    ],
  ])('P3: %s', async (_, script, back) => {
    const { repo, told, operation } = await strayed(
      (git) => `git tag astray; ${script(git)}`,
      (made) => made.git('branch', 'side'),
    )
    const [moved] = [...told.values()].filter(({ what }) => what.startsWith('refs/heads/'))
    expect(moved).toMatchObject({ kept: false, back: expect.stringContaining(back) })
    expect(moved?.commits).toMatchObject({
      before: { subject: 'First commit' },
      after: { author: expect.stringContaining('@') },
    })
    const before = repo.git('for-each-ref', 'refs/heads/main', 'refs/heads/side') + gitFolder(repo).index
    expect(await offshoot(repo, 'undo', operation)).toMatchObject({ code: 0 })
    expect(repo.git('for-each-ref', 'refs/heads/main', 'refs/heads/side') + gitFolder(repo).index).toBe(
      before,
    )
    expect(repo.git('tag', '--list')).toBe('')
  })

  test('P3: a branch that the agent moved to a commit of its own is put back', async () => {
    const { repo, told, operation } = await strayed(
      () => 'echo w > w.txt; git add w.txt; git commit -qm work; git branch --force side HEAD',
      (made) => made.git('branch', 'side'),
    )
    expect(told.get('refs/heads/side')).toMatchObject({ kept: true, commits: { after: { subject: 'work' } } })
    await offshoot(repo, 'undo', operation)
    expect(repo.git('rev-parse', 'side')).toBe(repo.git('rev-parse', 'main'))
  })
})
