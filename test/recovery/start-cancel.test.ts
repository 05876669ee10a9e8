/** S3: a start that is cancelled, wherever it is, leaves nothing. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { atEffect } from '../support/at-effect.ts'
import { fingerprint } from '../support/fingerprint.ts'
import { isRunning, until } from '../support/processes.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import {
  branches,
  copyOf,
  library,
  linkedWorktrees,
  ownRefs,
  workspaceFolders,
} from '../support/workspace.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

/** What there is of tasks; nothing, as a rule. */
async function leftovers(repo: TestRepo) {
  return {
    worktrees: linkedWorktrees(repo),
    branches: branches(repo).filter((name) => name !== 'main'),
    refs: ownRefs(repo).filter((ref) => ref !== 'refs/offshoot/repo'),
    folders: workspaceFolders(repo),
    tasks: await library(repo).list({ all: true }),
  }
}

const nothing = { worktrees: [], branches: [], refs: [], folders: [], tasks: [] }

/** Starts, and cancels at the Nth effect; answers how that went, or undefined when there were fewer. */
async function cancelAt(n: number, template: TestRepo, before: string) {
  const repo = copyOf(template)
  const cancel = new AbortController()
  const { around, reached } = atEffect(n, () => cancel.abort())
  const code: string = await library(repo, { around })
    .start({ task: 'T1' }, { signal: cancel.signal })
    .then(
      () => 'started',
      (error) => error.code,
    )
  if (!reached()) return undefined
  const left = await leftovers(repo)
  const { reused } = await library(repo).start({ task: 'T1' })
  return { n, code, left, reused, same: JSON.stringify(fingerprint(repo)) === before }
}

test('S3: a start cancelled at any of its effects leaves nothing, and the next one works', async () => {
  const template = testRepo()
  const before = JSON.stringify(fingerprint(template))
  const outcomes = []
  for (let n = 1; ; n++) {
    const outcome = await cancelAt(n, template, before)
    if (!outcome) break
    outcomes.push(outcome)
  }
  const cancelled = outcomes.filter(({ code }) => code !== 'started')
  const cleanly = { code: 'WT_021', left: nothing, reused: false, same: true }
  expect(cancelled).toEqual(cancelled.map(({ n }) => ({ n, ...cleanly })))
  expect(cancelled.length).toBeGreaterThan(15)
  // Where it was too late to cancel, the task is there and whole.
  const started = outcomes.filter(({ code }) => code === 'started')
  expect(started.filter(({ reused, same }) => !reused || !same)).toEqual([])
})

test.each([
  ['a reason of its own', () => new Error('enough')],
  ['a word', () => 'enough'],
  ['a timeout', () => new DOMException('late', 'TimeoutError')],
])('S3: whatever the signal gives as its reason is told as cancelled: %s', async (_, reason) => {
  const repo = testRepo()
  for (const n of [1, 4]) {
    const cancel = new AbortController()
    const { around } = atEffect(n, () => cancel.abort(reason()))
    await expect(
      library(repo, { around }).start({ task: 'T1' }, { signal: cancel.signal }),
    ).rejects.toMatchObject({
      name: 'AppError',
      code: 'WT_021',
    })
  }
  await expect(library(repo).list({}, { signal: AbortSignal.abort(reason()) })).rejects.toMatchObject({
    code: 'WT_021',
  })
})

/** A repository whose files take until the end of time to be checked out; the filter's pid tells that it runs. */
function endlessRepo() {
  const repo = testRepo({ 'b.slow': 'slow\n', '.gitattributes': '*.slow filter=slow\n' })
  const pidFile = path.join(repo.home, 'filter.pid')
  const script = path.join(repo.home, 'filter.sh')
  writeFileSync(
    script,
    `echo $$ > '${pidFile}.new' && mv '${pidFile}.new' '${pidFile}'\nexec tail -f /dev/null\n`,
  )
  writeFileSync(
    path.join(repo.home, '.gitconfig'),
    `[filter "slow"]\n\tsmudge = sh '${script}'\n\tclean = cat\n\trequired = true\n`,
  )
  return { repo, pidFile }
}

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'S3: %s while git checks files out ends git and its filter, exits with 130 and leaves nothing',
  async (signal) => {
    const { repo, pidFile } = endlessRepo()
    const before = fingerprint(repo)
    const child = spawn(process.execPath, [bin, 'start', 'T1', '--json'], {
      cwd: repo.dir,
      env: repo.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let stdout = ''
    child.stdout.on('data', (chunk) => (stdout += chunk))
    await until(() => existsSync(pidFile), 'the filter runs')
    child.kill(signal)
    expect(await once(child, 'close')).toEqual([130, null])
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'WT_021' } })
    const filter = Number(readFileSync(pidFile, 'utf8'))
    await until(() => !isRunning(filter), 'the filter has ended')
    expect(await leftovers(repo)).toEqual(nothing)
    expect(fingerprint(repo)).toEqual(before)
  },
)

test('R5: locks of git’s that are made after a start was killed are not taken away by recovery, which goes on once they are gone', async () => {
  const { repo, pidFile } = endlessRepo()
  const before = fingerprint(repo)
  const child = spawn(process.execPath, [bin, 'start', 'T1'], {
    cwd: repo.dir,
    env: repo.env,
    stdio: 'ignore',
  })
  await until(() => existsSync(pidFile), 'the filter runs')
  child.kill('SIGKILL')
  await once(child, 'close')
  const locks = ['packed-refs.lock', 'packed-refs.new', 'HEAD.lock'].map((name) => `${repo.dir}/.git/${name}`)
  for (const lock of locks) writeFileSync(lock, '')
  const { json } = await offshoot(repo, 'recover', '--json')
  expect(json.recovered).toMatchObject([
    { verdict: 'left alone', why: expect.stringContaining(locks[0] ?? '') },
  ])
  expect(locks.filter((lock) => existsSync(lock))).toEqual(locks)
  for (const lock of locks) rmSync(lock)
  await offshoot(repo, 'recover')
  expect(await leftovers(repo)).toEqual(nothing)
  expect(fingerprint(repo)).toEqual(before)
})

test('S3: an AbortSignal while git checks files out does the same for the library', async () => {
  const { repo, pidFile } = endlessRepo()
  const cancel = new AbortController()
  const started = library(repo)
    .start({ task: 'T1' }, { signal: cancel.signal })
    .catch((error: unknown) => error)
  await until(() => existsSync(pidFile), 'the filter runs')
  cancel.abort()
  expect(await started).toMatchObject({ code: 'WT_021' })
  expect(await leftovers(repo)).toEqual(nothing)
})
