/** H6: what a repository tells other tools about setting a workspace up. */
import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'

const own = (repo: TestRepo) => path.join(repo.dir, '.offshoot.yaml')
const canary = (repo: TestRepo) => path.join(repo.home, 'canary')

test('H6, H1: a start offers it once, an import takes it over, and it runs only when trusted', async () => {
  const repo = testRepo()
  repo.write(
    '.cursor/worktrees.json',
    JSON.stringify({ 'setup-worktree': ['cd .', 'echo "$PWD" > "$HOME/canary"'] }),
  )
  const first = await offshoot(repo, 'start', 'T1')
  expect(first.stderr).toBe(
    'notice: .cursor/worktrees.json says how a workspace is set up: offshoot config import imports it.\n',
  )
  expect((await offshoot(repo, 'start', 'T2')).stderr).toBe('')
  expect(existsSync(own(repo))).toBe(false)

  expect((await offshoot(repo, 'config', 'import', '--dry-run')).stdout).toContain(
    'hooks.postStart from .cursor/worktrees.json',
  )
  expect(existsSync(own(repo))).toBe(false)
  const { json } = await offshoot(repo, 'config', 'import', '--json')
  const value = 'set -e\ncd .\necho "$PWD" > "$HOME/canary"'
  expect(json).toMatchObject({
    settings: [{ key: 'hooks.postStart', value, from: '.cursor/worktrees.json' }],
    path: own(repo),
  })

  expect((await offshoot(repo, 'start', 'T3', '--json')).json.setup).toMatchObject({ ok: false })
  expect(existsSync(canary(repo))).toBe(false)
  await offshoot(repo, 'trust')
  const { task, setup } = (await offshoot(repo, 'start', 'T4', '--json')).json
  expect(setup).toMatchObject({ ok: true })
  expect(readFileSync(canary(repo), 'utf8')).toBe(`${task.path}\n`)
  expect((await offshoot(repo, 'config', 'import')).stdout).toContain('already')
})

test('H6: Codex and Conductor have a counterpart of removal, too; their scripts find their variables', async () => {
  const repo = testRepo()
  repo.write('.offshoot.yaml', '# ours\nlimits:\n  perRepo: 20\n')
  repo.write(
    '.codex/environments/environment.toml',
    "version = 1\nmade = 2026-11-16\nargs = ['a', { b = 1.5 }]\n[setup]\nscript = '''\necho $CONDUCTOR_PORT $CODEX_WORKTREE_PATH > \"$HOME/canary\"\n'''\n",
  )
  repo.write('conductor.json', JSON.stringify({ scripts: { archive: 'exit 1', run: 'npm start' } }))
  await offshoot(repo, 'config', 'import')
  expect(readFileSync(own(repo), 'utf8')).toBe(
    '# ours\nlimits:\n  perRepo: 20\nhooks:\n  postStart: echo $CONDUCTOR_PORT $CODEX_WORKTREE_PATH > "$HOME/canary"\n  preRemove: exit 1\n',
  )
  await offshoot(repo, 'trust')
  const { task } = (await offshoot(repo, 'start', 'T1', '--json')).json
  expect(readFileSync(canary(repo), 'utf8')).toBe(`${task.ports[0]} ${task.path}\n`)
  expect((await offshoot(repo, 'reject', 'T1', '--json')).json.error.code).toBe('WT_017')
})

test('H6: where files differ one is chosen; what is set already is never written over', async () => {
  const repo = testRepo()
  repo.write('.cursor/worktrees.json', JSON.stringify({ 'setup-worktree': 'one' }))
  repo.write('conductor.json', JSON.stringify({ scripts: { setup: 'two' } }))
  expect((await offshoot(repo, 'config', 'import', '--json')).json.error).toMatchObject({ code: 'WT_019' })
  expect((await offshoot(repo, 'config', 'import', './conductor.json', '--json')).json.settings).toHaveLength(
    1,
  )
  const before = readFileSync(own(repo), 'utf8')
  expect((await offshoot(repo, 'config', 'import', '.cursor/worktrees.json', '--json')).json.error.code).toBe(
    'WT_019',
  )
  expect(readFileSync(own(repo), 'utf8')).toBe(before)
  expect((await offshoot(repo, 'config', 'import', 'package.json')).code).toBe(3)
  expect((await offshoot(testRepo(), 'config', 'import')).code).toBe(3)
})

test('H6: what cannot be read is told with its file, and a link is neither read nor replaced', async () => {
  const repo = testRepo()
  repo.write('conductor.json', '{ nope')
  const refused = (await offshoot(repo, 'config', 'import', '--json')).json.error
  expect(refused).toMatchObject({ code: 'WT_016', path: path.join(repo.dir, 'conductor.json') })
  const environment = path.join(repo.dir, '.codex/environments/environment.toml')
  repo.write(path.relative(repo.dir, environment), 'version = 1\n[setup]\nscript = "a')
  const broken = await offshoot(repo, 'config', 'import', '.codex/environments/environment.toml', '--json')
  expect(broken.json.error).toMatchObject({ code: 'WT_016', path: environment })
  expect(broken.json.error.message).toMatch(/^\.codex\S+: Line 3 is not valid TOML: /)
  rmSync(environment)
  repo.write('conductor.json', JSON.stringify({ scripts: { setup: 'two' } }))
  repo.write('elsewhere.yaml', 'limits:\n  perRepo: 20\n')
  symlinkSync('elsewhere.yaml', own(repo))
  expect((await offshoot(repo, 'config', 'import', '--json')).json.error).toMatchObject({
    code: 'WT_016',
    path: own(repo),
  })
  expect(readFileSync(own(repo), 'utf8')).toBe('limits:\n  perRepo: 20\n')
})

test('H6: a single word of Cursor may be a script beside it', async () => {
  const repo = testRepo({ '.cursor/setup.sh': 'echo ran > "$HOME/canary"\n' })
  repo.write('.cursor/worktrees.json', JSON.stringify({ 'setup-worktree-unix': 'setup.sh' }))
  expect((await offshoot(repo, 'config', 'import', '--json')).json.settings[0].value).toBe(
    'sh .cursor/setup.sh',
  )
  await offshoot(repo, 'trust')
  await offshoot(repo, 'start', 'T1')
  expect(readFileSync(canary(repo), 'utf8')).toBe('ran\n')
})
