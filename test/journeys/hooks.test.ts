/** H: commands of the settings, at certain moments of a task's life. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../support/processes.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { inFolder, library, withEnv } from '../support/workspace.ts'

const canary = (repo: TestRepo) => path.join(repo.home, 'canary')
const ran = (repo: TestRepo) => (existsSync(canary(repo)) ? readFileSync(canary(repo), 'utf8') : '')

/** Settings of the repository's own that leave a trace. */
function foreign(word = 'one'): TestRepo {
  const repo = testRepo()
  setForeign(repo, word)
  return repo
}

function setForeign(repo: TestRepo, word: string): void {
  repo.write('.offshoot.yaml', `hooks:\n  postStart: echo ${word} >> "$HOME/canary"\n  preAccept: exit 1\n`)
}

test('H1, P4: what a repository’s own settings would run does not, runs when trusted, and not when it has changed', async () => {
  const repo = foreign()
  const first = await offshoot(repo, 'start', 'T1', '--json')
  expect(first).toMatchObject({ code: 0, json: { setup: { hook: 'postStart', ok: false } } })
  expect(first.json.setup.why).toContain('offshoot trust')
  expect(ran(repo)).toBe('')
  expect((await offshoot(repo, 'trust', '--show', '--json')).json).toMatchObject({ trusted: false })
  expect((await offshoot(repo, 'start', 'T2')).stdout).toContain('postStart did not succeed: not trusted')
  expect(ran(repo)).toBe('')
  const { json } = await offshoot(repo, 'trust', '--json')
  expect(json.commands).toEqual([
    { hook: 'postStart', command: 'echo one >> "$HOME/canary"' },
    { hook: 'preAccept', command: 'exit 1' },
  ])
  expect((await offshoot(repo, 'start', 'T3', '--json')).json.setup).toEqual({
    hook: 'postStart',
    ok: true,
    why: '',
  })
  expect(ran(repo)).toBe('one\n')
  setForeign(repo, 'two')
  expect((await offshoot(repo, 'start', 'T4', '--json')).json.setup.ok).toBe(false)
  expect(ran(repo)).toBe('one\n')
  await offshoot(repo, 'trust')
  await offshoot(repo, 'trust', '--revoke')
  await offshoot(repo, 'start', 'T5')
  expect(ran(repo)).toBe('one\n')
})

test('H1: what would run before something has no say until it is trusted, and that is told', async () => {
  const repo = foreign()
  const { json: started } = await offshoot(repo, 'start', 'T1', '--json')
  writeFileSync(path.join(started.task.path, 'a.txt'), 'changed\n')
  const { code, json } = await offshoot(repo, 'accept', 'T1', '--keep', '--json')
  expect(code).toBe(0)
  expect(json.notices).toMatchObject([{ task: 'T1', message: expect.stringContaining('preAccept of T1') }])
  expect(json.notices[0].message).toContain('offshoot trust')
  const audit = await offshoot(repo, 'audit', '--task', 'T1', '--json')
  expect(audit.json.events).toContainEqual(
    expect.objectContaining({ what: 'hook.skipped', detail: 'preAccept is not trusted' }),
  )
  expect((await offshoot(repo, 'undo')).stderr).not.toContain('preAccept')
  await offshoot(repo, 'trust')
  expect((await offshoot(repo, 'accept', 'T1', '--json')).json.error.code).toBe('WT_017')
})

test('H1, P4: an agent cannot trust in the user’s place, and nothing is trusted in CI by accident', async () => {
  const repo = foreign()
  const inRun = withEnv(repo, { OFFSHOOT_RUN: 'some-run' })
  expect((await offshoot(inRun, 'trust', '--json')).json.error.code).toBe('WT_017')
  const inCi = withEnv(repo, { CI: 'true' })
  expect((await offshoot(inCi, 'trust', '--json')).json.error).toMatchObject({ code: 'WT_017' })
  await offshoot(repo, 'start', 'T1')
  expect(ran(repo)).toBe('')
  expect(await offshoot(inCi, 'trust', '--ci')).toMatchObject({ code: 0 })
  await offshoot(inCi, 'start', 'T2')
  expect(ran(repo)).toBe('one\n')
})

test('H1: what an agent writes into the settings of its workspace is nobody’s word', async () => {
  const repo = withEnv(testRepo(), { OFFSHOOT_HOOKS_POST_START: 'true' })
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1' })
  writeFileSync(path.join(task.path, '.offshoot.yaml'), 'hooks:\n  preRun: touch "$HOME/canary"\n')
  expect((await offshoot(repo, 'exec', 'T1', '--', 'true')).code).toBe(0)
  expect(existsSync(canary(repo))).toBe(false)
})

test('H2: the user’s own commands need no trust, and are told all about the task', async () => {
  const command =
    'printf "%s\\n" "$OFFSHOOT_HOOK" "$OFFSHOOT_TASK" "$PWD" "$OFFSHOOT_BRANCH" "$ROOT_WORKTREE_PATH" > "$HOME/canary"; cat >> "$HOME/canary"; echo said'
  const repo = withEnv(testRepo(), { OFFSHOOT_HOOKS_POST_START: command })
  const { stderr, stdout, code } = await offshoot(repo, 'start', 'T1')
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'said\n' })
  const [hook, task, folder, branch, root, json] = ran(repo).split('\n')
  expect([hook, task, branch, root]).toEqual(['postStart', 'T1', 'offshoot/T1', repo.dir])
  expect(stdout).toContain(folder)
  expect(JSON.parse(json ?? '')).toMatchObject({ hook: 'postStart', task: { id: 'T1', path: folder } })
})

test('H2: a setup that fails or takes too long leaves the workspace, and says so', async () => {
  const failing = withEnv(testRepo(), { OFFSHOOT_HOOKS_POST_START: 'exit 3' })
  const { json } = await offshoot(failing, 'start', 'T1', '--json')
  expect(json).toMatchObject({ ok: true, setup: { ok: false, why: 'ended with exit code 3' } })
  expect(existsSync(json.task.path)).toBe(true)
  const slow = withEnv(failing, {
    OFFSHOOT_HOOKS_POST_START: 'sleep 60',
    OFFSHOOT_HOOKS_TIMEOUT_SECONDS: '1',
  })
  expect((await offshoot(slow, 'start', 'T2', '--json')).json.setup.why).toBe('took longer than 1 s')
})

const lines = (first: string, last: string) =>
  [first, ...Array.from({ length: 18 }, (_, n) => `${n}`), last, ''].join('\n')

test.each(['patch', 'squash', 'merge', 'rebase'] as const)(
  'H2: what a setup writes is part of step 0, and never lands by %s, also not when the agent commits all it finds',
  async (as) => {
    const setUp = 'echo setup > setup.txt; sed -i 1s/.*/setup/ n.txt'
    const repo = withEnv(testRepo({ 'n.txt': lines('one', 'twenty') }), { OFFSHOOT_HOOKS_POST_START: setUp })
    repo.git('config', '--global', 'user.name', 'Ursula')
    repo.git('config', '--global', 'user.email', 'ursula@example.com')
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    expect(await lib.checkpoint({ task: 'T1' })).toMatchObject({ created: false })
    const at = inFolder(repo, task.path)
    at.write('n.txt', lines('setup', 'agent'))
    at.write('w.txt', 'w\n')
    at.git('add', '--all')
    at.git('commit', '--quiet', '--message=agent commit')
    const { accepted } = await lib.accept({ task: 'T1', as })
    expect(accepted?.files.map((file) => file.path)).toEqual(['n.txt', 'w.txt'])
    expect(readFileSync(path.join(repo.dir, 'n.txt'), 'utf8')).toBe(lines('one', 'agent'))
    expect(existsSync(path.join(repo.dir, 'setup.txt'))).toBe(false)
    expect(repo.git('log', '--format=%H', 'main', '--', 'setup.txt')).toBe('')
  },
)

test('H2, K10: what a setup wrote is on no branch; with uncommitted work only that comes before the steps', async () => {
  const repo = withEnv(testRepo(), { OFFSHOOT_HOOKS_POST_START: 'echo setup > setup.txt; exit 1' })
  repo.write('mine.txt', 'mine\n')
  const lib = library(repo)
  for (const dirty of [false, true]) {
    const { task } = await lib.start({ task: 'T1', dirty })
    inFolder(repo, task.path).write('w.txt', 'w\n')
    await lib.checkpoint({ task: 'T1' })
    const tree = () => repo.git('ls-tree', '--name-only', 'offshoot/T1').trim().split('\n')
    expect(tree()).toEqual(dirty ? ['a.txt', 'mine.txt', 'w.txt'] : ['a.txt', 'w.txt'])
    rmSync(task.path, { recursive: true })
    await lib.start({ task: 'T1' })
    expect(readFileSync(path.join(task.path, 'setup.txt'), 'utf8')).toBe('setup\n')
    expect(await lib.checkpoint({ task: 'T1' })).toMatchObject({ created: false })
    await lib.rewind({ task: 'T1', to: 0 })
    expect(existsSync(path.join(task.path, 'setup.txt'))).toBe(true)
    await lib.reject({ task: 'T1' })
  }
})

test('H2: a secret that a setup wrote refuses no landing, and does not pass for uncommitted work', async () => {
  const key = '-----BEGIN PRIVATE KEY-----'
  const repo = withEnv(testRepo(), { OFFSHOOT_HOOKS_POST_START: `echo '${key}' > key.pem` })
  repo.git('config', '--global', 'user.name', 'Ursula')
  repo.git('config', '--global', 'user.email', 'ursula@example.com')
  repo.write('mine.txt', 'mine\n')
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1' })
  await expect(lib.start({ task: 'T1', dirty: true })).rejects.toThrow('--dirty comes too late')
  inFolder(repo, task.path).write('w.txt', 'w\n')
  const { accepted } = await lib.accept({ task: 'T1', as: 'merge' })
  expect(accepted?.files.map((file) => file.path)).toEqual(['w.txt'])
})

test('H2: what an agent writes while the setup runs does not become step 0', async () => {
  const plain = testRepo()
  const [ready, go] = [path.join(plain.home, 'ready'), path.join(plain.home, 'go')]
  const wait = `touch '${ready}'; while ! test -e '${go}'; do sleep 0.05; done`
  const repo = withEnv(plain, { OFFSHOOT_HOOKS_POST_START: wait })
  const starting = offshoot(repo, 'start', 'T1')
  await until(() => existsSync(ready), 'the setup runs')
  const [begun, end] = [path.join(plain.home, 'begun'), path.join(plain.home, 'end')]
  const work = `echo w > w.txt; touch '${begun}'; while ! test -e '${end}'; do sleep 0.05; done`
  const running = offshoot(repo, 'exec', 'T1', '--', 'sh', '-c', work)
  await until(() => existsSync(begun), 'the command is at work')
  writeFileSync(go, '')
  await starting
  writeFileSync(end, '')
  await running
  const { checkpoints } = (await offshoot(repo, 'log', 'T1', '--json')).json
  expect(checkpoints).toMatchObject([{ n: 1, files: [{ path: 'w.txt' }] }])
})

test('H3: what runs before a run, an accept or a removal can refuse it, and nothing is done then', async () => {
  const repo = testRepo()
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1' })
  writeFileSync(path.join(task.path, 'a.txt'), 'changed\n')
  const no = (name: string) => library(withEnv(repo, { [`OFFSHOOT_HOOKS_${name}`]: 'exit 1' }))
  const refused = { code: 'WT_017' }
  await expect(no('PRE_RUN').task('T1').exec(['true'])).rejects.toMatchObject(refused)
  await expect(no('PRE_ACCEPT').accept({ task: 'T1' })).rejects.toMatchObject(refused)
  await expect(no('PRE_REMOVE').reject({ task: 'T1' })).rejects.toMatchObject(refused)
  await expect(no('PRE_REMOVE').remove({ task: 'T1', force: true })).rejects.toMatchObject(refused)
  expect(repo.git('status', '--porcelain')).toBe('')
  expect(await lib.find('T1')).toMatchObject({ state: 'active', runs: 0 })
  expect((await no('PRE_ACCEPT').accept({ task: 'T1', dryRun: true })).preview?.clean).toBe(true)
})

test('H3: after an accept the command runs in the checkout, and cannot fail it', async () => {
  const repo = withEnv(testRepo(), { OFFSHOOT_HOOKS_POST_ACCEPT: 'pwd > "$HOME/canary"; exit 7' })
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1' })
  writeFileSync(path.join(task.path, 'a.txt'), 'changed\n')
  const { hook, operation } = await lib.accept({ task: 'T1' })
  expect(hook).toEqual({ hook: 'postAccept', ok: false, why: 'ended with exit code 7' })
  expect(operation).toBeDefined()
  expect(ran(repo)).toBe(`${repo.dir}\n`)
})

test('H4: each run has a name for databases and the like that is its task’s alone', async () => {
  const repo = testRepo()
  const lib = library(repo)
  const slug = async (task: string) => {
    let said = ''
    const emit = (event: Record<string, unknown>) =>
      void (said += typeof event.text === 'string' ? event.text : '')
    await lib.start({ task })
    await lib.task(task).exec(['sh', '-c', 'echo "$OFFSHOOT_SLUG"'], { onEvent: emit })
    return said.trim()
  }
  const [one, two] = [await slug('Fix-Login.2'), await slug('9-lives')]
  expect(one).toMatch(/^fix_login_2_[0-9a-v]{6}$/)
  expect(two).toMatch(/^t_9_lives_[0-9a-v]{6}$/)
  expect(await slug('Fix-Login.2')).toBe(one)
})
