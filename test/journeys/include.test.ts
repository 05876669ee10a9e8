/** L15: ignored files that a workspace is given. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { readTree } from '../support/accept/disk.ts'
import { fingerprint } from '../support/fingerprint.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { inFolder, library, withEnv } from '../support/workspace.ts'

const ignored = '.env*\n*.local\nnode_modules/\nbuild/\nsecrets/\n'

/** Tracked, untracked and ignored files of every kind. */
function project(): TestRepo {
  const repo = testRepo({
    '.gitignore': ignored,
    'src/a.ts': 'tracked\n',
    'conf/base.yml': 'tracked\n',
    '.env.example': 'tracked, though a rule ignores it\n',
  })
  repo.git('add', '--force', '.env.example')
  repo.git('commit', '--quiet', '--allow-empty', '--message=Example')
  for (const name of ['.env', '.env.production', 'conf/dev.local', 'conf/deep/prod.local', 'build/out.js'])
    repo.write(name, `${name}\n`)
  repo.write('node_modules/pkg/index.js', 'module.exports = 1\n')
  repo.write('secrets/server.pem', 'pem\n')
  repo.write('notes.txt', 'untracked, and no rule ignores it\n')
  symlinkSync('.env', path.join(repo.dir, 'link.local'))
  symlinkSync('/nowhere/at/all', path.join(repo.dir, 'gone.local'))
  return repo
}

const given = (repo: TestRepo, workspace: string) => {
  const tracked = new Set(repo.git('ls-files').split('\n'))
  return [...readTree(workspace).keys()].filter((file) => !tracked.has(file)).toSorted()
}

const table: readonly [what: string, list: string | undefined, copied: readonly string[]][] = [
  ['no list', undefined, []],
  ['an empty list', '\n# nothing but a comment\n', []],
  ['one name', '.env\n', ['.env']],
  [
    'a name in any folder',
    '*.local\n',
    ['conf/deep/prod.local', 'conf/dev.local', 'gone.local', 'link.local'],
  ],
  ['a name at the root only', '/*.local\n', ['gone.local', 'link.local']],
  ['all but one', '.env*\n!.env.production\n', ['.env']],
  ['all again after an exception', '.env*\n!.env.production\n.env.production\n', ['.env', '.env.production']],
  ['a folder', 'build/\n', ['build/out.js']],
  ['files below a folder', 'conf/**/*.local\n', ['conf/deep/prod.local', 'conf/dev.local']],
  ['a file in a folder that is ignored', 'node_modules/pkg/index.js\n', ['node_modules/pkg/index.js']],
  ['a tracked file', 'src/a.ts\n.env.example\nconf/base.yml\n', []],
  ['a file that no rule ignores', 'notes.txt\n', []],
  [
    'everything',
    '*\n',
    [
      '.env',
      '.env.production',
      'build/out.js',
      'conf/deep/prod.local',
      'conf/dev.local',
      'gone.local',
      'link.local',
      'node_modules/pkg/index.js',
      'secrets/server.pem',
    ],
  ],
  ['what leads out', '../*\n/etc/passwd\n', []],
]

test.each(table)(
  'L15: with %s in .worktreeinclude, what is named and ignored is copied, and nothing else',
  async (_, list, copied) => {
    const repo = project()
    if (list !== undefined) repo.write('.worktreeinclude', list)
    const before = fingerprint(repo)
    const { task } = await library(repo).start({ task: 'T1' })
    expect(given(repo, task.path)).toEqual(copied)
    for (const file of copied) expect(readTree(task.path).get(file)).toEqual(readTree(repo.dir).get(file))
    expect(fingerprint(repo)).toEqual(before)
  },
)

test('L15: links stay as they are written, secrets are for the user alone, and the log names them', async () => {
  const repo = project()
  repo.write('.worktreeinclude', '*.local\n.env\nsecrets/\n')
  const lib = library(repo)
  const { task, included } = await lib.start({ task: 'T1' })
  expect(readlinkSync(path.join(task.path, 'link.local'))).toBe('.env')
  const mode = (file: string) => lstatSync(path.join(task.path, file)).mode & 0o777
  expect([mode('.env'), mode('secrets/server.pem'), mode('conf/dev.local')]).toEqual([0o600, 0o600, 0o644])
  expect(included?.secrets).toEqual(['.env', 'secrets/server.pem'])
  const logged = (await lib.audit({ task: 'T1' })).find(({ what }) => what === 'included')
  expect(logged?.detail).toBe('copied 6, .env, secrets/server.pem')
})

test('L15: what the base has in that place stays, and no link leads out', async () => {
  const repo = project()
  const outside = path.join(repo.home, 'outside')
  mkdirSync(outside)
  // On another branch the name is a tracked file, and the folder a link.
  repo.git('checkout', '--quiet', '-b', 'other')
  repo.git('add', '--force', '.env')
  symlinkSync(outside, path.join(repo.dir, 'aside'))
  repo.git('add', 'aside')
  repo.git('commit', '--quiet', '--message=Other')
  repo.git('checkout', '--quiet', 'main')
  repo.write('.env', 'of the checkout\n')
  repo.write('aside/x.local', 'x\n')
  repo.write('.worktreeinclude', '.env\n*.local\n')
  const { task } = await library(repo).start({ task: 'T1', from: 'other' })
  expect(readFileSync(path.join(task.path, '.env'), 'utf8')).toBe('.env\n')
  expect(existsSync(path.join(outside, 'x.local'))).toBe(false)
})

test('L15, K5: it is in no step and never lands, whatever the agent does to it and to the rules', async () => {
  const repo = withEnv(project(), {
    OFFSHOOT_WORKSPACE_LINK: 'node_modules',
    OFFSHOOT_WORKSPACE_COPY: '.env,*.local',
  })
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1' })
  writeFileSync(path.join(task.path, '.gitignore'), '')
  writeFileSync(path.join(task.path, '.env'), 'changed by the agent\n')
  rmSync(path.join(task.path, 'conf/dev.local'))
  const { checkpoint } = await lib.checkpoint({ task: 'T1' })
  expect(checkpoint.files).toEqual([{ path: '.gitignore', status: 'modified' }])
  await lib.checkpoint({ task: 'T1', files: ['.env', 'node_modules'] })
  expect((await lib.log('T1')).flatMap(({ files }) => files)).toEqual(checkpoint.files)
  await lib.accept({ task: 'T1' })
  expect(readFileSync(path.join(repo.dir, '.env'), 'utf8')).toBe('.env\n')
})

test.each(['merge', 'rebase', 'keep-branch'] as const)(
  'L15, K11: what the workspace was given is in no commit that %s hands on, though the agent commits all of it',
  async (as) => {
    const user = project()
    user.git('config', '--global', 'user.name', 'Ursula')
    user.git('config', '--global', 'user.email', 'ursula@example.com')
    const repo = withEnv(user, {
      OFFSHOOT_WORKSPACE_LINK: 'node_modules',
      OFFSHOOT_WORKSPACE_COPY: '.env',
    })
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    const at = inFolder(repo, task.path)
    for (const n of [1, 2]) {
      at.write(`w${n}.txt`, 'w\n')
      at.git('add', '--all')
      at.git('add', '--force', '.env', 'node_modules')
      at.git('commit', '--quiet', `--message=agent ${n}`)
      if (n === 1) await lib.checkpoint({ task: 'T1' })
    }
    const agents = at.git('rev-parse', 'HEAD').trim()
    const { accepted } = await lib.accept({ task: 'T1', as })
    expect(accepted?.files.map((file) => file.path)).toEqual(['w1.txt', 'w2.txt'])
    const branch = as === 'keep-branch' ? 'offshoot/T1' : 'main'
    expect(repo.git('log', '--format=%s', branch, '--', '.env', 'node_modules')).toBe('')
    const own = repo.git('log', '--format=%s', '--full-history', branch, '--', 'w1.txt', 'w2.txt')
    expect(own.match(/agent \d/g)).toEqual(['agent 2', 'agent 1'])
    expect(repo.git('ls-tree', '--name-only', branch)).toContain('w2.txt')
    // As the agent made them they are not lost.
    if (as === 'keep-branch')
      expect(repo.git('for-each-ref', '--format=%(objectname)', 'refs/offshoot/stray')).toContain(agents)
  },
)

test('L15: settings copy and link what they name; a workspace made again, or taken from the pool, gets the same', async () => {
  const repo = withEnv(project(), { OFFSHOOT_POOL_SIZE: '1' })
  repo.write('.offshoot.yaml', 'workspace:\n  copy: [.env]\n  link:\n    - node_modules\n    - build/\n')
  const lib = library(repo, { background: false })
  await lib.trust()
  await lib.pool()
  const { task, included } = await lib.start({ task: 'T1' })
  const expected = { copied: ['.env'], linked: ['build', 'node_modules'], secrets: ['.env'] }
  expect(included).toEqual(expected)
  expect(readlinkSync(path.join(task.path, 'node_modules'))).toBe(path.join(repo.dir, 'node_modules'))
  rmSync(task.path, { recursive: true })
  await lib.start({ task: 'T1' })
  expect(readlinkSync(path.join(task.path, 'build'))).toBe(path.join(repo.dir, 'build'))
  expect(readFileSync(path.join(task.path, '.env'), 'utf8')).toBe('.env\n')
})

test('L15: the command says what was given, and that a link leads back', async () => {
  const repo = project()
  repo.write('.worktreeinclude', '.env*\n')
  const { stdout } = await offshoot(withEnv(repo, { OFFSHOOT_WORKSPACE_LINK: 'node_modules' }), 'start', 'T1')
  expect(stdout).toContain('  copied .env and 1 more\n')
  expect(stdout).toContain('  linked node_modules: an edit there changes your checkout too\n')
})

test('L15, P4: names that look like options or patterns are names', async () => {
  const repo = project()
  for (const name of ['-rf.local', ':(glob).local', 'a b.local', 'new\nline.local']) repo.write(name, 'x\n')
  repo.write('.worktreeinclude', '*.local\n')
  const { included } = await library(repo).start({ task: 'T1' })
  expect(included?.copied).toEqual(
    expect.arrayContaining(['-rf.local', ':(glob).local', 'a b.local', 'new\nline.local']),
  )
})
