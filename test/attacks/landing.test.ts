/** What an agent tries to land unseen: files that run later, secrets of earlier steps, links and commits that git refuses. */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkoutState } from '../support/checkout-state.ts'
import { offshoot, type TestRepo } from '../support/repo.ts'
import { worked } from '../support/worked.ts'
import { commitFile, inFolder, withEnv } from '../support/workspace.ts'

const key = 'AKIAQ7XV2LM9TZ4KP8WD'

function put(folder: string, name: string, content = 'x\n', mode?: number): void {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
  writeFileSync(path.join(folder, name), content)
  if (mode !== undefined) chmodSync(path.join(folder, name), mode)
}

// biome-ignore format: a list
const running = [
  '.offshoot.yaml', '.worktreeinclude', 'conductor.json', '.codex/config.toml', '.gemini/settings.json', '.opencode/x.ts', 'opencode.json', 'AGENTS.md', 'CLAUDE.md', '.cursorrules', '.gitattributes', '.gitmodules',
  'GNUmakefile', 'sub/makefile', 'rules.mk', 'Justfile', 'Taskfile.yml', 'pyproject.toml', 'setup.py', 'conftest.py', 'x.pth', 'build.rs', '.cargo/config.toml', 'build.gradle', 'pom.xml', 'CMakeLists.txt',
  'Rakefile', 'Gemfile', 'Dockerfile', 'compose.yaml', '.npmrc', '.yarnrc.yml', '.pnpmfile.cjs', '.yarn/releases/y.cjs', 'vite.config.ts', 'jest.config.js', '.eslintrc.js', '.gitlab-ci.yaml', 'azure-pipelines.yml',
  '.travis.yml', '.buildkite/p.yml', 'flake.nix', 'mise.toml', '.exrc', '.nvim.lua', '.dir-locals.el', 'x.code-workspace', '.zed/tasks.json', 'lefthook.yaml', '.husky/pre-commit', '.vscode/tasks.json',
  '.github/workflows/ci.yml', 'package.json', 'package-lock.json', '.envrc', '.Rprofile', 'premake5.lua', 'tsconfig.json', 'tsconfig.build.json', '.nvmrc', '.node-version', '.python-version', '.ruby-version', '.tool-versions',
]

test('H7b: whatever runs later is told in the preview, and what is only text is not', async () => {
  const { repo, task } = await worked({ 'a.txt': 'one\n', 'build.sh': '#!/bin/sh\n' })
  for (const name of running) put(task.path, name)
  put(task.path, 'src/index.ts')
  put(task.path, 'README.md')
  put(task.path, 'build.sh', '#!/bin/sh\nevil\n', 0o755)
  const { preview } = await repo.accept({ task: 'T1', dryRun: true })
  expect(preview?.runsCode.toSorted()).toEqual([...running, 'build.sh'].toSorted())
  expect(preview?.risks.find((risk) => risk.path === 'AGENTS.md')?.why).toBe('tells agents what to do')
})

test('H7b: a file that was executable before and changes is told', async () => {
  const { user, repo, task } = await worked({ 'a.txt': 'one\n' })
  put(user.dir, 'old.sh', 'one\n', 0o755)
  user.git('add', '.')
  user.git('commit', '-qm', 'A script')
  const { task: other } = await repo.start({ task: 'T2' })
  put(other.path, 'old.sh', 'two\n')
  expect((await repo.accept({ task: 'T2', dryRun: true })).preview?.runsCode).toEqual(['old.sh'])
  expect(task.id).toBe('T1')
})

test('H7a: the accept itself tells what runs later, in text and in JSON', async () => {
  const { user, task } = await worked({ 'a.txt': 'one\n' })
  put(task.path, 'Makefile')
  put(task.path, 'b.txt')
  const said = await offshoot(user, 'accept', 'T1', '--keep')
  expect(said).toMatchObject({ code: 0 })
  expect(said.stdout).toContain('look at Makefile: runs with a build or a test')
  put(task.path, 'AGENTS.md')
  const { json } = await offshoot(user, 'accept', 'T1', '--json')
  expect(json.accepted).toMatchObject({
    runsCode: ['AGENTS.md'],
    risks: [{ path: 'AGENTS.md', why: 'tells agents what to do' }],
  })
})

test('H7a: with --fail-on-risk it is refused with WT_017, and nothing is written', async () => {
  const { user, task } = await worked({ 'a.txt': 'one\n' })
  put(task.path, '.github/workflows/ci.yml')
  const before = checkoutState(user)
  for (const as of ['patch', 'squash', 'merge']) {
    const { code, json } = await offshoot(user, 'accept', 'T1', '--as', as, '--fail-on-risk', '--json')
    expect({ code, error: json.error.code }).toEqual({ code: 5, error: 'WT_017' })
    expect(json.error.data.risks).toEqual([
      { path: '.github/workflows/ci.yml', why: 'runs in CI or at a release' },
    ])
  }
  expect(checkoutState(user)).toEqual(before)
  rmSync(path.join(task.path, '.github'), { recursive: true })
  put(task.path, 'b.txt')
  expect((await offshoot(user, 'accept', 'T1', '--fail-on-risk')).code).toBe(0)
})

/** Runs the command at a terminal and types one line as soon as it asks. */
function atTerminal(
  user: TestRepo,
  typed: string,
  ...args: string[]
): Promise<{ code: number | null; shown: string }> {
  const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
  const line = [process.execPath, bin, ...args].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: user.dir,
    env: { ...user.env, TERM: 'dumb' },
  })
  return new Promise((resolve, reject) => {
    let shown = ''
    child.stdout.on('data', (chunk: Buffer) => {
      const asked = shown.includes('[y/N]')
      shown += chunk.toString()
      if (!asked && shown.includes('[y/N]')) child.stdin.write(`${typed}\n`)
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, shown }))
  })
}

const hasScript = existsSync('/usr/bin/script')
if (!hasScript) console.log('skipped: H7a at a terminal, because /usr/bin/script (of util-linux) is missing')

test.skipIf(!hasScript)(
  'H7a: at a terminal it is asked for; no refuses it, yes and --yes land it',
  async () => {
    const { user, task } = await worked({ 'a.txt': 'one\n' })
    put(task.path, 'Makefile')
    const before = checkoutState(user)
    const no = await atTerminal(user, '', 'accept', 'T1', '--keep')
    expect(no.shown).toMatch(/look at Makefile: [^]*Land it\? \[y\/N\]/)
    expect(no.code).toBe(5)
    expect(checkoutState(user)).toEqual(before)
    const yes = await atTerminal(user, 'y', 'accept', 'T1', '--keep')
    expect(yes.code).toBe(0)
    expect(readFileSync(path.join(user.dir, 'Makefile'), 'utf8')).toBe('x\n')
    put(task.path, 'AGENTS.md')
    const unasked = await atTerminal(user, '', 'accept', 'T1', '--yes')
    expect(unasked).toMatchObject({ code: 0, shown: expect.not.stringContaining('[y/N]') })
  },
)

/** A task whose first step writes a secret that its second step deletes. */
async function stepped() {
  const made = await worked({ 'a.txt': 'one\n' }, [{ 'notes.txt': `${key}\n`, 'a.txt': 'two\n' }])
  rmSync(made.at('notes.txt'))
  await made.repo.checkpoint({ task: 'T1', tool: 'Bash', summary: 'Clean up' })
  return made
}

describe('H7c: a secret that a later step deletes', () => {
  test.each(['merge', 'rebase', 'keep-branch'] as const)('is not handed on by %s', async (as) => {
    const { user, repo } = await stepped()
    const before = checkoutState(user)
    await expect(repo.accept({ task: 'T1', as })).rejects.toMatchObject({
      code: 'WT_017',
      hint: expect.stringContaining('--as squash'),
      data: { refused: [{ path: 'notes.txt', why: 'looks like it holds a secret, in step 1' }] },
    })
    expect(checkoutState(user)).toEqual(before)
    await repo.accept({ task: 'T1', as, allow: ['notes.txt'] })
  })

  test('is not in the way of a squash', async () => {
    const { user, repo } = await stepped()
    await repo.accept({ task: 'T1', as: 'squash' })
    expect(user.git('log', '-p', 'main')).not.toContain(key)
  })

  test.each(['steps', 'commits'])('is not pushed by pr, in %s', async (how) => {
    const { user: made, repo: _, task } = how === 'steps' ? await stepped() : await committed()
    const bin = path.join(made.home, 'bin')
    put(bin, 'gh', '#!/bin/sh\necho https://example.com/pull/7\n', 0o755)
    const user = withEnv(made, { PATH: `${bin}:${process.env.PATH}` })
    const bare = path.join(user.home, 'remote.git')
    execFileSync('git', ['init', '--quiet', '--bare', bare])
    user.git('remote', 'add', 'origin', bare)
    expect((await offshoot(user, 'accept', task.id, '--as', 'pr', '--json')).json.error?.code).toBe('WT_017')
    expect(execFileSync('git', ['-C', bare, 'log', '--all', '-p'], { encoding: 'utf8' })).not.toContain(key)
  })
})

/** A task whose agent commits a secret itself, and deletes it in its next commit. */
async function committed(isolation: 'worktree' | 'clone' = 'worktree') {
  const made = await worked({ 'a.txt': 'one\n' })
  const { task } = await made.repo.start({ task: 'T2', isolation })
  const agent = inFolder(made.user, task.path)
  put(task.path, 'notes.txt', `${key}\n`)
  agent.git('add', '.')
  agent.git('commit', '-qm', 'Notes')
  agent.git('rm', '-q', 'notes.txt')
  put(task.path, 'a.txt', 'two\n')
  agent.git('commit', '-qam', 'Clean up')
  return { ...made, task, agent }
}

describe("H7c: a secret in the agent's own commits", () => {
  test.each([
    ['merge', 'worktree'],
    ['rebase', 'worktree'],
    ['keep-branch', 'clone'],
  ] as const)('is not handed on by %s of a %s', async (as, isolation) => {
    const { repo } = await committed(isolation)
    await expect(repo.accept({ task: 'T2', as })).rejects.toMatchObject({
      code: 'WT_017',
      data: {
        refused: [
          {
            path: 'notes.txt',
            why: expect.stringMatching(/^looks like it holds a secret, in commit [0-9a-f]{10}$/),
          },
        ],
      },
    })
    await repo.accept({ task: 'T2', as: 'squash' })
  })
})

const padded = `${'padding '.repeat(150_000)}\n${key}\n${'more '.repeat(200_000)}`
const pgp = '-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBF\n-----END PGP PRIVATE KEY BLOCK-----\n'
const random = 'q7Xv2Lm9Tz4Kp8Wd3Nb6Rf5Hc1Js0Yg7Qa2Ue'

test.each([
  ['padded.txt', padded],
  ['key.asc', pgp],
  ['a.txt', `github_pat_11ABCDEFG0${random}_${random}`],
  ['a.txt', `glpat-${random.slice(0, 20)}`],
  ['a.txt', `sk_live_${random.slice(0, 24)}`],
  ['a.txt', `AIza${random.slice(0, 35)}`],
  ['prod.env', 'A=1\n'],
  ['server.key', 'x\n'],
  ['.npmrc', `//registry.example/:_authToken=${random}\n`],
  ['k.ppk', 'x\n'],
  ['config.py', `API_KEY = "${random}"\n`],
  ['wide.txt', Buffer.from(`\ufeff${key}\r\n`, 'utf16le').toString('latin1')],
])('H7d: %s is refused for the secret in it', async (name, content) => {
  const { repo, task } = await worked({ 'b.txt': 'one\n' })
  writeFileSync(path.join(task.path, name), content, name === 'wide.txt' ? 'latin1' : 'utf8')
  await expect(repo.accept({ task: 'T1' })).rejects.toMatchObject({
    code: 'WT_017',
    data: { refused: [{ path: name }] },
  })
})

test('H7e: a link that leads out through another link is refused, and so is one into .git', async () => {
  const { user, repo, task } = await worked({ 'a.txt': 'one\n' })
  const before = checkoutState(user)
  symlinkSync('.', path.join(task.path, 'd'))
  symlinkSync('d/d/d/../../home/secretfile', path.join(task.path, 'out'))
  symlinkSync('.git/hooks', path.join(task.path, 'x'))
  symlinkSync('a.txt', path.join(task.path, 'fine'))
  await expect(repo.accept({ task: 'T1' })).rejects.toMatchObject({
    code: 'WT_017',
    data: {
      refused: [
        { path: 'out', why: 'a link that leads out of the repository' },
        { path: 'x', why: 'a link that leads into the folder of git' },
      ],
    },
  })
  expect(checkoutState(user)).toEqual(before)
})

test('H7e: a link that makes a link of the user lead out is refused', async () => {
  const { user, repo } = await worked({ 'a.txt': 'one\n' })
  put(user.dir, 'deep/er/f')
  symlinkSync('deep/../a.txt', path.join(user.dir, 'old'))
  user.git('add', '.')
  user.git('commit', '-qm', 'A link')
  const { task } = await repo.start({ task: 'T2' })
  rmSync(path.join(task.path, 'deep'), { recursive: true })
  symlinkSync('.', path.join(task.path, 'deep'))
  await expect(repo.accept({ task: 'T2' })).rejects.toMatchObject({
    data: { refused: [{ path: 'old', why: 'a link that leads out of the repository' }] },
  })
})

/** Commits a tree with `.GIT/hooks/pre-commit`, which git itself refuses to add. */
function commitDotGit(agent: TestRepo): string {
  const hash = (kind: string, content: string | Buffer) =>
    execFileSync('git', ['hash-object', '-w', '--literally', '-t', kind, '--stdin'], {
      cwd: agent.dir,
      env: agent.env,
      input: content,
      encoding: 'utf8',
    }).trim()
  const entry = (mode: string, name: string, oid: string) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')])
  const blob = hash('blob', '#!/bin/sh\ntouch PWNED\n')
  const hooks = hash('tree', entry('100755', 'pre-commit', blob))
  const dotGit = hash('tree', entry('40000', 'hooks', hooks))
  const file = agent.git('rev-parse', 'HEAD:a.txt').trim()
  const root = hash('tree', Buffer.concat([entry('40000', '.GIT', dotGit), entry('100644', 'a.txt', file)]))
  const commit = agent.git('commit-tree', '-p', 'HEAD', '-m', 'Innocent', root).trim()
  agent.git('update-ref', agent.git('symbolic-ref', 'HEAD').trim(), commit)
  agent.git('read-tree', 'HEAD~1')
  return commit
}

test.each(['merge', 'rebase', 'keep-branch'] as const)(
  'H7f: a commit with .GIT in its tree is not handed on by %s',
  async (as) => {
    const { user, repo, task } = await worked({ 'a.txt': 'one\n' })
    const commit = commitDotGit(inFolder(user, task.path))
    put(task.path, 'b.txt')
    await expect(repo.accept({ task: 'T1', as })).rejects.toMatchObject({
      code: 'WT_017',
      data: { refused: [{ path: commit, why: 'a commit that git refuses, or that lacks objects' }] },
    })
    await repo.accept({ task: 'T1', as: 'squash' })
    expect(user.git('ls-tree', '-r', '--name-only', 'main').split('\n').filter(Boolean)).toEqual([
      'a.txt',
      'b.txt',
    ])
    expect(user.git('rev-list', 'main')).not.toContain(commit)
  },
)

test('H7f: publishing leaves such a commit out, and keeps the steps', async () => {
  const { user, repo, task } = await worked({ 'a.txt': 'one\n' })
  const commit = commitDotGit(inFolder(user, task.path))
  await repo.task('T1').exec(['sh', '-c', 'echo x > b.txt'])
  expect(user.git('rev-list', task.branch)).not.toContain(commit)
  expect(user.git('show', `${task.branch}:b.txt`)).toBe('x\n')
})

test('H7f: commits by somebody else are told, those in the name of the user are not', async () => {
  const { user, repo, task } = await worked({ 'a.txt': 'one\n' })
  const agent = inFolder(user, task.path)
  put(task.path, 'a.txt', 'two\n')
  agent.git('commit', '-qam', 'As the user')
  put(task.path, 'a.txt', 'three\n')
  agent.git('commit', '-qam', 'As Linus', '--author', 'Linus <linus@example.com>')
  const forged = agent.git('rev-parse', 'HEAD').trim()
  const { preview } = await repo.accept({ task: 'T1', as: 'merge', dryRun: true })
  expect(preview).toMatchObject({
    runsCode: [],
    risks: [{ path: forged, why: 'is by Linus <linus@example.com>, not by you' }],
  })
  const { accepted } = await repo.accept({ task: 'T1', as: 'merge' })
  expect(accepted?.risks).toEqual(preview?.risks)
})

test.each(['worktree', 'clone'] as const)(
  'H7f: commits that publishing leaves out of a %s stay reachable, and are told',
  async (isolation) => {
    const { user, repo } = await worked({ 'a.txt': 'one\n' })
    const { task } = await repo.start({ task: 'T2', isolation })
    const agent = inFolder(user, task.path)
    commitDotGit(agent)
    const good = commitFile(agent, 'good.txt', 'good\n')
    await repo.task('T2').exec(['sh', '-c', 'echo x > b.txt'])
    const kept = /\(kept at (refs\/offshoot\/\S+)\)/
    const { leftOut = '' } = await repo.task('T2').show()
    expect(leftOut).toMatch(/^2 commits of the agent are not on the branch: git refuses their content/)
    const holder = isolation === 'clone' ? agent : user
    expect(holder.git('rev-parse', kept.exec(leftOut)?.[1] ?? 'none').trim()).toBe(good)
    expect((await offshoot(user, 'show', 'T2')).stdout).toContain(leftOut)
    await repo.task('T2').exec(['sh', '-c', 'echo y > b.txt'])
    expect((await repo.task('T2').show()).leftOut).toBe(leftOut)
  },
)

test.each(['merge', 'rebase', 'keep-branch'] as const)(
  'H7d: a secret in the message or the name of a commit is not handed on by %s',
  async (as) => {
    const { user, repo, task } = await worked({ 'a.txt': 'one\n' })
    const agent = inFolder(user, task.path)
    agent.git('commit', '--allow-empty', '-qm', 'Fine')
    agent.git('commit', '--allow-empty', '-qm', `Use ${key}`)
    const said = agent.git('rev-parse', 'HEAD').trim()
    agent.git('commit', `--author=${key} <a@b>`, '--allow-empty', '-qm', 'Named')
    const named = agent.git('rev-parse', 'HEAD').trim()
    put(task.path, 'b.txt')
    const why = 'a commit whose message or names look like a secret'
    const refusal = await repo.accept({ task: 'T1', as }).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'WT_017', hint: expect.stringContaining(`--allow ${said}`) })
    expect((refusal as { data: { refused: object[] } }).data.refused).toEqual(
      expect.arrayContaining([
        { path: said, why },
        { path: named, why },
      ]),
    )
    expect((refusal as { data: { refused: object[] } }).data.refused).toHaveLength(2)
    await repo.accept({ task: 'T1', as, allow: [said, named] })
  },
)

test('H7d: the hint names a path that begins with a dash so that it can be typed', async () => {
  const { user, task } = await worked({ 'a.txt': 'one\n' })
  put(task.path, '-n', `${key}\n`)
  const { json } = await offshoot(user, 'accept', 'T1', '--as', 'merge', '--json')
  expect(json.error.hint).toBe(
    'To land all the same: --allow=-n (or --as squash, which hands on the last state alone)',
  )
  expect(await offshoot(user, 'accept', 'T1', '--as', 'merge', '--allow=-n')).toMatchObject({ code: 0 })
})
