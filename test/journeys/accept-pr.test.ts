import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { checkoutState } from '../support/checkout-state.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { inFolder, library, withEnv } from '../support/workspace.ts'

const address = 'https://example.com/me/shop/pull/7'

/** A program that notes its words, one per NUL, and then does as it is told. */
function script(folder: string, name: string, does: string) {
  mkdirSync(folder, { recursive: true })
  const told = path.join(folder, `${name}.told`)
  const note = `[ "$1" = --version ] && exit 0\nprintf '%s\\0' "$@" > '${told}'\n`
  writeFileSync(path.join(folder, name), `#!/bin/sh\n${note}${does}\n`)
  chmodSync(path.join(folder, name), 0o755)
  return () => readFileSync(told, 'utf8').split('\0').slice(0, -1)
}

/** A repository with a bare one as its remote, a task with two steps, and on PATH git, a few tools, and no gh. */
async function asking(remote: string | undefined = 'origin') {
  const made = testRepo({ f: 'one\n' })
  const bin = path.join(made.home, 'bin')
  mkdirSync(bin)
  for (const name of ['git', 'sh', 'cat', 'touch']) {
    symlinkSync(execFileSync('which', [name], { encoding: 'utf8' }).trim(), path.join(bin, name))
  }
  const user: TestRepo = withEnv(made, { PATH: bin })
  const bare = path.join(user.home, 'remote.git')
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', bare])
  if (remote !== undefined) user.git('remote', 'add', remote, bare)
  const repo = library(user)
  const { task } = await repo.start({ task: 'T1', title: 'Greet louder' })
  writeFileSync(path.join(task.path, 'f'), 'ONE\n')
  await repo.checkpoint({ task: 'T1', tool: 'Edit', summary: 'Shout' })
  writeFileSync(path.join(task.path, 'g'), 'two\n')
  await repo.checkpoint({ task: 'T1', tool: 'Write', summary: 'Add g' })
  const remotely = (...args: string[]) => execFileSync('git', args, { cwd: bare, encoding: 'utf8' })
  return { user, repo, task, bin, bare, remotely }
}

test('A2: pr pushes the branch and asks for it with title and steps; the folder goes, the branch stays', async () => {
  const { user, repo, task, bin, remotely } = await asking()
  const told = script(bin, 'gh', `echo ${address}`)
  const before = checkoutState(user)
  const { accepted, operation } = await repo.accept({ task: 'T1', as: 'pr' })
  expect(accepted).toMatchObject({ as: 'pr', onto: 'main', url: address })
  expect(remotely('log', '--format=%s', 'offshoot/T1')).toBe(
    'AI Tool: Write - Add g\nAI Tool: Edit - Shout\nFirst commit\n',
  )
  expect(remotely('rev-parse', 'offshoot/T1').trim()).toBe(accepted?.commit)
  expect(told()).toEqual(
    ['pr', 'create', '--head', 'offshoot/T1', '--base', 'main', '--title', 'Greet louder', '--body'].concat(
      '- Shout\n- Add g',
    ),
  )
  expect(existsSync(task.path)).toBe(false)
  expect((await repo.find('T1'))?.state).toBe('kept')
  expect(user.git('rev-parse', 'offshoot/T1').trim()).toBe(accepted?.commit)
  expect(checkoutState(user)).toEqual(before)
  await expect(repo.undo(operation)).rejects.toMatchObject({
    code: 'WT_017',
    message: expect.stringMatching(/^\w+ cannot be undone: a pull request was opened\.$/),
  })
  expect(await repo.ops()).toMatchObject([{ id: operation, final: 'a pull request was opened' }])
  expect((await offshoot(user, 'ops')).stdout).toContain('cannot be undone: a pull request was opened')
})

test('A10: a clone is asked for as a worktree is, and so is a repository without all of its history', async () => {
  const { user, repo, bin, bare, remotely } = await asking()
  script(bin, 'gh', `echo ${address}`)
  const { task } = await repo.start({ task: 'T2', isolation: 'clone' })
  writeFileSync(path.join(task.path, 'h'), 'three\n')
  await repo.accept({ task: 'T2', as: 'pr' })
  expect(remotely('show', 'offshoot/T2:h')).toBe('three\n')
  user.git('commit', '-q', '--allow-empty', '-m', 'Second commit')
  user.git('push', '-q', bare, 'main')
  const shallow = inFolder(user, path.join(user.home, 'shallow'))
  execFileSync('git', ['clone', '-q', '--depth=1', `file://${bare}`, shallow.dir], { env: user.env })
  const cut = library(shallow)
  const started = await cut.start({ task: 'T3' })
  writeFileSync(path.join(started.task.path, 'i'), 'four\n')
  await cut.accept({ task: 'T3', as: 'pr' })
  expect(remotely('log', '--format=%s', 'offshoot/T3')).toMatch(
    /^Hand edit - before the accept\nSecond commit\nFirst commit\n$/,
  )
})

test('A10: a task that has changed nothing is not asked for', async () => {
  const { repo, bin, remotely } = await asking()
  const told = script(bin, 'gh', `echo ${address}`)
  await repo.start({ task: 'T2' })
  await expect(repo.accept({ task: 'T2', as: 'pr' })).rejects.toMatchObject({ code: 'WT_019' })
  expect(told).toThrow('ENOENT')
  expect(remotely('for-each-ref')).toBe('')
})

test('A6: with --keep the task stays open, all of it is still to land, and -m gives title and body', async () => {
  const { repo, task, bin } = await asking()
  const told = script(bin, 'glab', `echo ${address}`)
  await repo.accept({ task: 'T1', as: 'pr', keep: true, message: 'Louder\n\nBecause.' })
  expect(told().slice(-5)).toEqual(['--title', 'Louder', '--description', 'Because.', '--yes'])
  expect(existsSync(task.path)).toBe(true)
  const { preview } = await repo.accept({ task: 'T1', dryRun: true })
  expect(preview?.files.map((file) => file.path)).toEqual(['f', 'g'])
})

test('A4: without a tool, without a remote, or with a part only, nothing has changed anywhere', async () => {
  const { user, repo, task, bin, remotely } = await asking('elsewhere')
  const before = checkoutState(user)
  const refused = async (code: string, input: object = {}) =>
    expect(repo.accept({ task: 'T1', as: 'pr', ...input })).rejects.toMatchObject({ code })
  await refused('WT_005')
  user.git('remote', 'rename', 'elsewhere', 'origin')
  await refused('WT_005')
  const told = script(bin, 'gh', `echo ${address}`)
  for (const part of [{ only: ['f'] }, { steps: [1] }, { hunks: ['12ab'] }]) await refused('WT_019', part)
  writeFileSync(path.join(task.path, '.env'), 'TOKEN=1\n')
  await refused('WT_017')
  expect(told).toThrow('ENOENT')
  expect(remotely('for-each-ref')).toBe('')
  user.git('remote', 'rename', 'origin', 'elsewhere')
  expect(checkoutState(user)).toEqual(before)
  expect((await repo.find('T1'))?.state).toBe('active')
})

test('A4: a tool that fails leaves the task open; a request that is there already is taken for ours', async () => {
  const { user, bin } = await asking()
  script(bin, 'gh', 'echo "no token" >&2; exit 4')
  const run = () =>
    offshoot(
      withEnv(user, { PATH: `${bin}:${path.dirname(process.execPath)}` }),
      'accept',
      'T1',
      '--as',
      'pr',
      '--json',
    )
  const failed = await run()
  expect(failed.json.error).toMatchObject({ code: 'WT_020', message: expect.stringContaining('no token') })
  script(bin, 'gh', `echo "a pull request for branch already exists:\n${address}" >&2; exit 1`)
  expect((await run()).json).toMatchObject({ ok: true, accepted: { url: address }, task: { state: 'kept' } })
})

test('A4: a branch on the remote that went another way is not overwritten, and the task stays open', async () => {
  const { user, repo, bin, bare, remotely } = await asking()
  const told = script(bin, 'gh', `echo ${address}`)
  user.git('push', '-q', bare, 'main:refs/heads/offshoot/T1')
  const tree = remotely('rev-parse', 'offshoot/T1^{tree}').trim()
  const other = execFileSync('git', ['commit-tree', '-m', 'other', tree], {
    cwd: bare,
    env: user.env,
    encoding: 'utf8',
  }).trim()
  remotely('update-ref', 'refs/heads/offshoot/T1', other)
  await expect(repo.accept({ task: 'T1', as: 'pr' })).rejects.toMatchObject({
    code: 'WT_020',
    message: /could not be pushed/,
  })
  expect(remotely('rev-parse', 'offshoot/T1').trim()).toBe(other)
  expect(told).toThrow('ENOENT')
  expect((await repo.find('T1'))?.state).toBe('active')
})

test('P4: hooks run only with --hooks, in the user’s checkout; one that says no stops it', async () => {
  const { user, repo, bin, remotely } = await asking()
  script(bin, 'gh', `echo ${address}`)
  const hook = path.join(user.dir, '.git', 'hooks', 'pre-push')
  const ran = path.join(user.home, 'ran')
  mkdirSync(path.dirname(hook), { recursive: true })
  writeFileSync(hook, `#!/bin/sh\npwd > '${ran}'\n[ -e '${user.home}/no' ] && exit 1\nexit 0\n`)
  chmodSync(hook, 0o755)
  await repo.accept({ task: 'T1', as: 'pr', keep: true })
  expect(existsSync(ran)).toBe(false)
  const tip = remotely('rev-parse', 'offshoot/T1')
  writeFileSync(path.join((await repo.find('T1'))!.path, 'more'), 'more\n')
  writeFileSync(path.join(user.home, 'no'), '')
  await expect(repo.accept({ task: 'T1', as: 'pr', hooks: true })).rejects.toMatchObject({ code: 'WT_020' })
  expect(readFileSync(ran, 'utf8')).toBe(`${user.dir}\n`)
  expect(remotely('rev-parse', 'offshoot/T1')).toBe(tip)
})

test('P4: what an agent writes into the config runs no command and changes no address', async () => {
  const { user, repo, bin, bare, remotely } = await asking()
  script(bin, 'gh', `echo ${address}`)
  const canary = path.join(user.home, 'canary')
  const hooks = path.join(user.home, 'agents-hooks')
  script(hooks, 'pre-push', `touch '${canary}'`)
  user.git('config', 'core.hooksPath', hooks)
  await repo.accept({ task: 'T1', as: 'pr', keep: true })
  expect(remotely('log', '--format=%s', '-1', 'offshoot/T1')).toBe('AI Tool: Write - Add g\n')
  user.git('config', 'protocol.ext.allow', 'always')
  user.git('config', `url.ext::touch% ${canary}.insteadOf`, bare)
  await expect(repo.accept({ task: 'T1', as: 'pr' })).rejects.toMatchObject({ code: 'WT_017' })
  const named = library(withEnv(user, { OFFSHOOT_PR_REMOTE: bare }))
  expect((await named.accept({ task: 'T1', as: 'pr' })).accepted?.url).toBe(address)
  expect(existsSync(canary)).toBe(false)
})
