/** Whose settings count: attacks by the file that comes with a repository, and by one that an agent wrote. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { inFolder, withEnv } from '../support/workspace.ts'

/** A repository that somebody else has written, settings included. */
const hostile = (yaml: string, files: Record<string, string> = {}) =>
  testRepo({ 'a.txt': 'one\n', '.offshoot.yaml': yaml, ...files })

const canary = (repo: TestRepo) => path.join(repo.home, 'canary')

test('C2: a repository cannot have its files put where the user’s programs look for code', async () => {
  const repo = hostile('workspace: { base: ~/.vim/pack }\n', { 'start/p/plugin/e.vim': 'evil\n' })
  const { code, json } = await offshoot(repo, 'start', 'fix-login', '--json')
  expect({ code, ...json.error }).toMatchObject({
    code: 'WT_016',
    path: path.join(repo.dir, '.offshoot.yaml'),
    data: { key: 'workspace.base' },
    hint: expect.stringContaining('OFFSHOOT_WORKSPACE_BASE'),
  })
  expect(code).toBe(2)
  expect(existsSync(path.join(repo.home, '.vim'))).toBe(false)
})

test('C2: a repository cannot choose the address that work is pushed to', async () => {
  const repo = hostile('pr: { remote: ./e.git }\n')
  const bin = path.join(repo.home, 'bin')
  mkdirSync(bin)
  writeFileSync(path.join(bin, 'gh'), '#!/bin/sh\necho https://example.com/1\n')
  chmodSync(path.join(bin, 'gh'), 0o755)
  const user = withEnv(repo, { PATH: `${bin}:${repo.env.PATH}` })
  execFileSync('git', ['init', '--quiet', '--bare', path.join(repo.dir, 'e.git')])
  const hook = path.join(repo.dir, 'e.git/hooks/pre-receive')
  writeFileSync(hook, `#!/bin/sh\ntouch '${canary(repo)}'\n`)
  chmodSync(hook, 0o755)
  writeFileSync(path.join(repo.dir, '.offshoot.yaml'), `pr: { remote: ${repo.dir}/e.git }\n`)
  expect(
    (await offshoot(withEnv(user, { OFFSHOOT_PR_REMOTE: 'x' }), 'start', 'f1', '--json')).json.error.code,
  ).toBe('WT_016')
  writeFileSync(path.join(repo.dir, '.offshoot.yaml'), '')
  const { task } = (await offshoot(user, 'start', 'f1', '--json')).json
  writeFileSync(path.join(task.path, 'b.txt'), 'two\n')
  writeFileSync(path.join(repo.dir, '.offshoot.yaml'), `pr: { remote: ${repo.dir}/e.git }\n`)
  const { json } = await offshoot(user, 'accept', 'f1', '--as', 'pr', '--json')
  expect(json.error).toMatchObject({ code: 'WT_016', data: { key: 'pr.remote' } })
  expect(existsSync(canary(repo))).toBe(false)
})

const touch = (repo: TestRepo) => play({ sh: `touch '${canary(repo)}'` })

test('C2: a repository cannot allow tools that the user’s policy does not allow', async () => {
  const repo = withStandIn(hostile('policy: { allowed: [Bash, "Bash(*)", "Edit(*)"] }\n'))
  const line = ['run', '--policy', 'strict', '--allowed-tools', 'Read', '--task', 'T1', '--json']
  expect((await offshoot(repo, ...line, touch(repo))).json).toMatchObject({ ok: true })
  expect(existsSync(canary(repo))).toBe(false)
})

test('C2: what a flag allows is all that is allowed, whatever the user’s settings allow otherwise', async () => {
  const repo = withStandIn(withEnv(testRepo(), { OFFSHOOT_POLICY_ALLOWED: 'Bash' }))
  const line = ['run', '--policy', 'strict', '--task', 'T1', '--json']
  await offshoot(repo, ...line, '--allowed-tools', 'Read', touch(repo))
  expect(existsSync(canary(repo))).toBe(false)
  await offshoot(repo, ...line, touch(repo))
  expect(existsSync(canary(repo))).toBe(true)
})

test('C2: what a repository denies, neither a setting of the user’s nor a flag takes back by accident', async () => {
  const denying = hostile('policy: { denied: [Bash] }\n')
  const repo = withStandIn(withEnv(denying, { OFFSHOOT_POLICY_DENIED: 'WebFetch' }))
  const line = ['run', '--task', 'T1', '--denied-tools', 'Read', '--allowed-tools', 'Bash(*)', '--json']
  await offshoot(repo, ...line, touch(repo))
  expect(existsSync(canary(repo))).toBe(false)
})

test('C2: a repository cannot make a shell line of a prompt', async () => {
  const repo = withStandIn(hostile('agent: { name: command }\n'))
  const prompt = play({ say: `\`touch ${canary(repo)}\`` })
  const { json } = await offshoot(repo, 'run', '--task', 'T1', '--json', prompt)
  expect(json).toMatchObject({ ok: true, task: { agent: 'claude' } })
  expect(existsSync(canary(repo))).toBe(false)
})

test('C2: a repository cannot have the user’s own files linked or copied into a workspace', async () => {
  const repo = hostile('workspace: { link: [node_modules/], copy: [.env] }\n', {
    '.gitignore': 'node_modules\n.env\n',
  })
  repo.write('node_modules/.bin/eslint', 'mine\n')
  repo.write('.env', 'SECRET=1\n')
  const { task } = (await offshoot(repo, 'start', 'T1', '--json')).json
  expect(['node_modules', '.env'].filter((name) => existsSync(path.join(task.path, name)))).toEqual([])
})

test('C2: a repository cannot shorten how long the user’s work is kept', async () => {
  const repo = hostile(
    'trash: { keepDays: 0 }\nprune: { maxAgeDays: 0, minKeep: 0, protectUncommitted: false }\n',
  )
  await offshoot(repo, 'start', 'T1')
  const { json } = await offshoot(repo, 'prune', '--json')
  expect(json).toMatchObject({ ok: true, removed: [] })
})

test('C2: which values wait for trust is told once, and by config at any time', async () => {
  const repo = hostile('agent: { name: command }\nkeepFailed: true\n')
  const first = await offshoot(repo, 'start', 'T1')
  expect(first.stderr).toContain(
    '.offshoot.yaml sets agent.name, keepFailed, which do not count until you trust them',
  )
  expect((await offshoot(repo, 'start', 'T2')).stderr).toBe('')
  const { settings } = (await offshoot(repo, 'config', '--json')).json
  expect(settings.filter(({ waits }: { waits?: boolean }) => waits)).toEqual([
    { key: 'agent.name', value: '', origin: 'default', waits: true },
    { key: 'keepFailed', value: false, origin: 'default', waits: true },
  ])
  expect((await offshoot(repo, 'config', '--show-origin')).stdout).toMatch(
    /^agent\.name +"" +default \(\.offshoot\.yaml waits for offshoot trust\)$/m,
  )
  await offshoot(repo, 'trust')
  const trusted = (await offshoot(repo, 'config', '--json')).json.settings
  expect(trusted).toContainEqual({
    key: 'keepFailed',
    value: true,
    origin: path.join(repo.dir, '.offshoot.yaml'),
  })
})

test('M8: what an agent writes into the settings of its workspace does not count for who stands there', async () => {
  const repo = withStandIn(
    testRepo({ 'a.txt': 'one\n', '.offshoot.yaml': 'branch: { name: "users/{task}" }\n' }),
  )
  const { task } = (await offshoot(repo, 'start', 'w1', '--json')).json
  const yaml = 'branch: { name: "agents/{task}" }\npolicy: { allowed: [Bash] }\n'
  writeFileSync(path.join(task.path, '.offshoot.yaml'), yaml)
  const there = inFolder(repo, task.path)
  await offshoot(there, 'run', '--policy', 'strict', '--task', 'w1', '--json', touch(repo))
  expect(existsSync(canary(repo))).toBe(false)
  const second = (await offshoot(there, 'start', 'w2', '--json')).json.task
  expect(second.branch).toBe('users/w2')
  // A task that was started in a workspace has that one as its origin.
  writeFileSync(path.join(second.path, '.offshoot.yaml'), yaml)
  expect((await offshoot(inFolder(repo, second.path), 'start', 'w3', '--json')).json.task.branch).toBe(
    'users/w3',
  )
})

test('C2: a repository cannot have open tasks given up by lowering how many there may be', async () => {
  const repo = testRepo()
  for (const task of ['T1', 'T2', 'T3', 'T4']) await offshoot(repo, 'start', task)
  repo.write('.offshoot.yaml', 'limits: { perRepo: 1 }\n')
  expect((await offshoot(repo, 'prune', '--json')).json).toMatchObject({ stale: [], removed: [] })
  expect((await offshoot(repo, 'start', 'T5', '--json')).json.error.code).toBe('WT_003')
  const mine = withEnv(repo, { OFFSHOOT_LIMITS_PER_REPO: '3' })
  expect((await offshoot(mine, 'prune', '--json')).json.removed).toHaveLength(1)
})

test('C2: the hint of a broken file names the file, not a command that fails by it too', async () => {
  const repo = hostile('limits: { perRepo: many }\n')
  const { json } = await offshoot(repo, 'list', '--json')
  const file = path.join(repo.dir, '.offshoot.yaml')
  const start = (await offshoot(repo, 'start', 'T1', '--json')).json
  expect(json.error ?? start.error).toMatchObject({
    code: 'WT_016',
    hint: `Correct it in ${file}, or remove it there.`,
  })
  writeFileSync(file, 'limits: {')
  expect((await offshoot(repo, 'start', 'T1', '--json')).json.error.hint).toBe(`Correct the file ${file}.`)
})
