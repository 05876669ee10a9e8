/** Whatever is wrong with what we are given: the exact code and exit code, a hint, and nothing is made. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AppError } from '../../src/index.ts'
import { fingerprint } from '../support/fingerprint.ts'
import { offshoot, tempFolder, type TestRepo, testRepo } from '../support/repo.ts'
import {
  branches,
  inFolder,
  library,
  linkedWorktrees,
  nowhere,
  withEnv,
  workspaceFolders,
} from '../support/workspace.ts'

/** Runs `act` and sees to it that it has made nothing: no file, ref, worktree, workspace or record. */
async function makesNothing<T>(repo: TestRepo, act: () => Promise<T>): Promise<T> {
  const state = () => ({
    user: fingerprint(repo),
    branches: branches(repo),
    worktrees: linkedWorktrees(repo),
    workspaces: workspaceFolders(repo),
  })
  const before = state()
  const result = await act()
  expect(state()).toEqual(before)
  expect(await library(repo).list({ all: true })).toEqual([])
  return result
}

const refusal = ({ code, exitCode, hint }: AppError) => ({ code, exit: exitCode, hint })

const badIds: [string, string][] = [
  ['', 'WT_019'],
  ['.', 'WT_019'],
  ['..', 'WT_006'],
  ['../up', 'WT_006'],
  ['a..b', 'WT_006'],
  ['a/b', 'WT_006'],
  ['/absolute', 'WT_006'],
  ['a/../../b', 'WT_006'],
  ['back\\slash', 'WT_006'],
  ['-dash', 'WT_019'],
  ['--force', 'WT_019'],
  ['.hidden', 'WT_019'],
  ['ends.', 'WT_019'],
  ['ends.lock', 'WT_019'],
  ['ends.LOCK', 'WT_019'],
  ['two words', 'WT_019'],
  [' ', 'WT_019'],
  ['tab\tbed', 'WT_019'],
  ['line\nfeed', 'WT_019'],
  ['nul\0byte', 'WT_019'],
  ['\u001b[31mred', 'WT_019'],
  ['\u007fdelete', 'WT_019'],
  ['x'.repeat(65), 'WT_019'],
  ['x'.repeat(300), 'WT_019'],
  ['CON', 'WT_019'],
  ['nul', 'WT_019'],
  ['Com1', 'WT_019'],
  ['lpt9.txt', 'WT_019'],
  ['größer', 'WT_019'],
  ['日本', 'WT_019'],
  ['right\u202eleft', 'WT_019'],
  ['~', 'WT_019'],
  ['a:b', 'WT_019'],
  ['a*b', 'WT_019'],
  ['$(id)', 'WT_019'],
  ["it's", 'WT_019'],
]

const oddBranches = [
  '',
  'two words',
  'line\nfeed',
  'a\0b',
  '\u001b[31m',
  'zero\u200bwidth',
  'right\u202eleft',
]
const badBranches = [
  ...'-dash HEAD @ refs/heads/x /a a/ a//b a/../b .. a..b .a a/.b a. a./b a.lock a.lock/b a/CON aux.txt/b nul'.split(
    ' ',
  ),
  ...'a~b a^b a:b a?b a*b a[b a\\b a@{b'.split(' '),
  ...oddBranches,
  'half\ud800',
  'x'.repeat(300),
]

test('S1: every task id that could not be a folder and a branch everywhere is refused', async () => {
  const repo = testRepo()
  const work = library(repo)
  await makesNothing(repo, async () => {
    for (const [task, code] of badIds) {
      const error = await work.start({ task }).catch((error: AppError) => error)
      expect({ task, ...refusal(error as AppError) }).toEqual({
        task,
        code,
        exit: 2,
        hint: expect.stringMatching(/./),
      })
    }
  })
})

test('S1: every branch name that git or a file system would not take is refused', async () => {
  const repo = testRepo()
  const work = library(repo)
  await makesNothing(repo, async () => {
    for (const name of badBranches) {
      for (const input of [{ branch: name }, { existingBranch: name }]) {
        const error = await work.start({ task: 'T1', ...input }).catch((error: AppError) => error)
        expect({ name, ...refusal(error as AppError) }).toMatchObject({ name, code: 'WT_019', exit: 2 })
      }
    }
  })
})

test('S1: what is not refused works exactly', async () => {
  const repo = withEnv(testRepo(), { OFFSHOOT_LIMITS_PER_REPO: '100' })
  const work = library(repo)
  const ids = ['a', '0', 'A-1_b.c', 'HEAD', 'main', 'con1', 'v1-2-gdeadbee', 'x'.repeat(64)]
  for (const id of ids) await work.start({ task: id })
  const names = ['größer/日本', 'user@home', `it's"$HOME;&`, 'a+b=c,d%e', '{x}', `${'y'.repeat(200)}`]
  for (const [n, branch] of names.entries()) await work.start({ task: `B${n}`, branch })
  const listed = linkedWorktrees(repo)
  const expected = [...ids.map((id) => `offshoot/${id}`), ...names]
  expect(new Set(listed.map(({ branch }) => branch))).toEqual(new Set(expected))
  for (const found of listed) {
    expect(inFolder(repo, found.path).git('symbolic-ref', '--short', 'HEAD')).toBe(`${found.branch}\n`)
  }
  for (const { id } of await work.list()) await work.remove({ task: id })
  expect(branches(repo)).toEqual(['main'])
})

/** A folder in which nothing can be made, for root too; undefined where that takes rights that we do not have. */
function readOnlyFolder(): string | undefined {
  const folder = tempFolder()
  if (process.getuid?.() !== 0) {
    chmodSync(folder, 0o500)
    onTestFinished(() => chmodSync(folder, 0o700))
    return folder
  }
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'offshoot-test', folder], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  onTestFinished(() => void execFileSync('umount', [folder]))
  return folder
}

interface Case {
  readonly what: string
  readonly code: string
  readonly exit: number
  readonly args?: string[]
  /** What the hint or the message must say. */
  readonly says?: string | RegExp
  readonly prepare?: (repo: TestRepo) => TestRepo | void
}

const settings = (yaml: string) => (repo: TestRepo) => repo.write('.offshoot.yaml', yaml)

/** A git on PATH that answers like one of another version. */
function oldGit(repo: TestRepo): TestRepo {
  const folder = path.join(repo.home, 'old')
  mkdirSync(folder)
  writeFileSync(path.join(folder, 'git'), '#!/bin/sh\necho git version 2.30.2\n', { mode: 0o755 })
  return { ...repo, env: { ...repo.env, PATH: `${folder}:${repo.env.PATH}` } }
}

const cases: Case[] = [
  { what: 'an unknown --from', code: 'WT_010', exit: 3, args: ['--from', 'nope'], says: 'nope' },
  { what: 'a --from that looks like an option', code: 'WT_010', exit: 3, args: ['--from=--all'] },
  { what: 'a --from that names a range', code: 'WT_010', exit: 3, args: ['--from', 'main..main'] },
  { what: 'a --from that names a file', code: 'WT_010', exit: 3, args: ['--from', 'HEAD:a.txt'] },
  { what: 'an empty --from', code: 'WT_010', exit: 3, args: ['--from', ''] },
  { what: 'an unknown --existing-branch', code: 'WT_010', exit: 3, args: ['--existing-branch', 'nope'] },
  {
    what: 'an --existing-branch that git could read as a description of a commit',
    code: 'WT_010',
    exit: 3,
    args: ['--existing-branch', 'v1-0-g{commit}'],
  },
  { what: 'a branch checked out here', code: 'WT_002', exit: 5, args: ['--existing-branch', 'main'] },
  {
    what: 'a branch checked out elsewhere',
    code: 'WT_002',
    exit: 5,
    args: ['--existing-branch', 'topic'],
    says: 'elsewhere',
    prepare: (repo) =>
      void repo.git('worktree', 'add', '--quiet', '-b', 'topic', path.join(repo.home, 'elsewhere')),
  },
  {
    what: 'a --branch that is there',
    code: 'WT_002',
    exit: 5,
    args: ['--branch', 'main'],
    says: '--branch',
  },
  { what: 'two branches', code: 'WT_019', exit: 2, args: ['--branch', 'a', '--existing-branch', 'b'] },
  {
    what: 'a base for a branch that has one',
    code: 'WT_019',
    exit: 2,
    args: ['--existing-branch', 'b', '--from', 'c'],
  },
  {
    what: 'a base for a shadow branch',
    code: 'WT_019',
    exit: 2,
    args: ['--isolation', 'branch', '--from', 'main'],
  },
  {
    what: 'an isolation that there is not',
    code: 'WT_019',
    exit: 2,
    args: ['--isolation', 'bubble'],
    says: /worktree/,
  },
  {
    what: 'a base folder that is a file',
    code: 'WT_001',
    exit: 5,
    says: 'workspace.base',
    prepare: settings('workspace:\n  base: a.txt\n'),
  },
  {
    what: 'a base folder below a file',
    code: 'WT_001',
    exit: 5,
    says: 'workspace.base',
    prepare: settings('workspace:\n  base: a.txt/wt\n'),
  },
  {
    what: 'a base that is a symlink out of the repository',
    code: 'WT_006',
    exit: 2,
    says: 'outside',
    prepare(repo) {
      settings('workspace:\n  base: .wt\n')(repo)
      symlinkSync(repo.home, path.join(repo.dir, '.wt'))
    },
  },
  {
    what: 'a base below a symlink out of the repository',
    code: 'WT_006',
    exit: 2,
    prepare(repo) {
      settings('workspace:\n  base: link/deep/wt\n')(repo)
      symlinkSync('../..', path.join(repo.dir, 'link'))
    },
  },
  {
    what: 'a base that is a symlink to nothing',
    code: 'WT_006',
    exit: 2,
    prepare(repo) {
      settings('workspace:\n  base: .wt\n')(repo)
      symlinkSync(path.join(repo.home, 'not yet'), path.join(repo.dir, '.wt'))
    },
  },
  {
    what: 'settings that are no YAML',
    code: 'WT_016',
    exit: 2,
    says: /\.offshoot\.yaml:\d+:\d+: is not valid YAML/,
    prepare: settings('limits:\n  perRepo: [1\n'),
  },
  {
    what: 'an unknown setting',
    code: 'WT_016',
    exit: 2,
    says: 'did you mean `limits.perRepo`?',
    prepare: settings('limits:\n  perRpo: 30\n'),
  },
  {
    what: 'a setting of the wrong kind',
    code: 'WT_016',
    exit: 2,
    says: 'a whole number',
    prepare: settings('limits:\n  perRepo: many\n'),
  },
  {
    what: 'a branch pattern that would not tell tasks apart',
    code: 'WT_016',
    exit: 2,
    prepare: settings('branch:\n  name: always-the-same\n'),
  },
  {
    what: 'a workspace pattern that leaves the base',
    code: 'WT_016',
    exit: 2,
    prepare: settings("workspace:\n  name: '../{task}'\n"),
  },
  {
    what: 'settings of the user that are no YAML',
    code: 'WT_016',
    exit: 2,
    says: 'config.yaml',
    prepare: (repo) => inFolder(repo, repo.home).write('.config/offshoot/config.yaml', '{'),
  },
  {
    what: 'a variable of the wrong kind',
    code: 'WT_016',
    exit: 2,
    says: 'OFFSHOOT_LIMITS_PER_REPO',
    prepare: (repo) => withEnv(repo, { OFFSHOOT_LIMITS_PER_REPO: 'many' }),
  },
  { what: 'a git that is too old', code: 'WT_015', exit: 6, says: /2\.30\.2.*2\.38/, prepare: oldGit },
  {
    what: 'no git at all',
    code: 'WT_015',
    exit: 6,
    says: 'PATH',
    prepare: (repo) => ({ ...repo, env: { ...repo.env, PATH: repo.home } }),
  },
  {
    what: 'a state folder that is a file',
    code: 'WT_022',
    exit: 6,
    says: 'OFFSHOOT_HOME',
    prepare: (repo) => ({ ...repo, env: { ...repo.env, OFFSHOOT_HOME: path.join(repo.dir, 'a.txt') } }),
  },
  {
    what: 'a state folder below a file',
    code: 'WT_022',
    exit: 6,
    says: 'OFFSHOOT_HOME',
    prepare: (repo) => ({ ...repo, env: { ...repo.env, OFFSHOOT_HOME: path.join(repo.dir, 'a.txt/state') } }),
  },
  {
    what: 'a state folder where nobody can make one',
    code: 'WT_022',
    exit: 6,
    says: 'OFFSHOOT_HOME',
    prepare: (repo) => ({ ...repo, env: { ...repo.env, OFFSHOOT_HOME: '/proc/nope/state' } }),
  },
]

describe('start with', () => {
  test.each(cases)(
    'I5: $what: $code, exit $exit, and nothing is made',
    async ({ prepare, args = [], says = /./, ...known }) => {
      const repo = testRepo()
      repo.git('tag', 'v1')
      const commit = repo.git('rev-parse', 'HEAD').trim()
      const asked = prepare?.(repo) ?? repo
      const filled = args.map((arg) => arg.replace('{commit}', commit))
      const run = () => offshoot(asked, 'start', 'T1', ...filled, '--json')
      const { code, json, stdout, stderr } = await makesNothing(repo, run)
      expect({ code, error: json?.error?.code, said: json?.error?.message }).toMatchObject({
        code: known.exit,
        error: known.code,
      })
      expect(stdout.trimEnd().split('\n')).toHaveLength(1)
      expect(stderr).toBe('')
      expect(json.ok).toBe(false)
      expect(json.error.hint).not.toBe('')
      expect(`${json.error.message} ${json.error.hint}`).toMatch(says)
    },
  )
})

test('L10: a repository with no commit yet says how to make one', async () => {
  const repo = testRepo()
  const dir = path.join(repo.home, 'unborn')
  repo.git('init', '--quiet', dir)
  const unborn = inFolder(repo, dir)
  const { code, json } = await makesNothing(unborn, () => offshoot(unborn, 'start', 'T1', '--json'))
  expect({ code, error: json.error.code }).toEqual({ code: 3, error: 'WT_010' })
  expect(json.error.hint).toContain('git commit')
})

test('L10: a repository whose refs are in a format that we do not know says so', async () => {
  const repo = testRepo()
  const config = readFileSync(path.join(repo.dir, '.git/config'))
  repo.write('.git/config', `${config.toString()}[extensions]\n\trefstorage = reftable\n`)
  const { code, json } = await offshoot(repo, 'start', 'T1', '--json')
  expect({ code, error: json.error.code }).toEqual({ code: 6, error: 'WT_015' })
  expect(json.error.message).toContain('reftable')
  repo.write('.git/config', config)
  await makesNothing(repo, async () => {})
})

test.each([
  ['a folder in no repository', '.', 'WT_009', 6],
  ['a folder that there is not', 'nowhere', 'WT_005', 3],
  ['a git folder without a repository', 'empty', 'WT_009', 6],
  ['a .git file that is damaged', 'damaged', 'WT_009', 6],
  ['a .git file that points to nothing', 'astray', 'WT_009', 6],
])('L9: %s: start, list and show say so', async (_, dir, error, exit) => {
  const home = nowhere()
  mkdirSync(path.join(home.dir, 'empty/.git'), { recursive: true })
  home.write('damaged/.git', 'gitdir\n')
  home.write('astray/.git', 'gitdir: ../gone/.git/worktrees/astray\n')
  for (const verb of [['start', 'T1'], ['list'], ['show', 'T1']]) {
    const { code, json } = await offshoot(home, '-C', dir, ...verb, '--json')
    expect({ verb, code, error: json.error.code }).toEqual({ verb, code: exit, error })
    expect(json.error.path).toContain(home.dir)
  }
})

test('I5: a read-only state folder: WT_022, exit 6, and nothing is made', async ({ skip }) => {
  const folder = readOnlyFolder()
  if (folder === undefined) return skip('a read-only file system takes the right to mount')
  const repo = testRepo()
  for (const home of [folder, path.join(folder, 'deep/state')]) {
    const asked = { ...repo, env: { ...repo.env, OFFSHOOT_HOME: home } }
    const { code, json } = await makesNothing(repo, () => offshoot(asked, 'start', 'T1', '--json'))
    expect({ code, error: json.error.code }).toEqual({ code: 6, error: 'WT_022' })
    expect(json.error.hint).toContain('OFFSHOOT_HOME')
    expect((await offshoot(asked, 'list', '--json')).json.error.code).toBe('WT_022')
  }
})

describe('wrong usage', () => {
  test.each<[string[], RegExp]>([
    [['strat'], /Did you mean: offshoot start/],
    [['worktree', 'remvoe'], /Did you mean: offshoot worktree remove/],
    [['worktree'], /--help/],
    [['start', 'T1', '--form', 'main'], /Did you mean: --from/],
    [['list', '--jsn'], /Did you mean: --json/],
    [['start', 'T1', 'T2'], /Usage: offshoot start/],
    [['start', 'T1', '--from'], /--help/],
    [['start', '-x'], /--help/],
    [['list', '--all=yes'], /--help/],
    [['list', '--state', 'strange'], /active/],
    [['worktree', 'create'], /--task/],
    [['worktree', 'remove'], /--task/],
    [['worktree', 'remove', 'a', '--task', 'b'], /--task/],
    [['worktree', 'prune', '--older-than', 'soon'], /3d/],
    [['worktree', 'prune', '--older-than', '3d', '--hours', '2'], /one of them/],
    [['worktree', 'prune', '--hours', 'many'], /12h/],
    [['completion'], /bash/],
    [['completion', 'tcsh'], /bash, zsh, fish/],
  ])('I5: offshoot %j: exit 2, and what to do instead', async (args, hint) => {
    const { code, stdout, stderr } = await offshoot(nowhere(), ...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^error WT_019: /)
    expect(stderr).toMatch(hint)
    expect(stderr).not.toMatch(/^ +at /m)
  })

  test('I5: no task where there is no workspace: exit 2, and where to look', async () => {
    const { code, stderr } = await offshoot(testRepo(), 'show')
    expect(code).toBe(2)
    expect(stderr).toContain('offshoot list')
  })

  test('I5: with --json it is one object on stdout, and nothing on stderr', async () => {
    const repo = nowhere()
    for (const args of [['strat'], ['list', '--jsn'], ['--nope'], ['start', '-C']]) {
      const { code, stdout, stderr } = await offshoot(repo, ...args, '--json')
      expect({ args, code, stderr }).toEqual({ args, code: 2, stderr: '' })
      expect(JSON.parse(stdout)).toEqual({
        ok: false,
        error: { code: 'WT_019', message: expect.any(String), hint: expect.any(String) },
      })
    }
  })
})

test('I5: a stack trace is shown with --verbose only', async () => {
  const repo = testRepo()
  const short = await offshoot(repo, 'start', 'T1', '--from', 'nope')
  expect(short.stderr.trimEnd().split('\n')).toEqual([
    'error WT_010: There is no branch, tag or commit nope.',
    expect.stringMatching(/^ {2}hint: /),
  ])
  expect((await offshoot(repo, 'start', 'T1', '--from', 'nope', '--verbose')).stderr).toMatch(/^ +at /m)
})

test('S1: what is shown of bad input cannot steer the terminal', async () => {
  const repo = testRepo()
  for (const args of [
    ['start', '\u001b]0;owned\u0007'],
    ['show', '\u001b[2J'],
    ['\u001b[2J'],
    ['start', 'T1', '--from', 'a\u202eb'],
  ]) {
    const { stderr } = await offshoot(repo, ...args)
    expect(stderr).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u)
  }
})
