/** A4: a branch that somebody else moves in the middle of an accept, and a file that is written in the middle of a rewind. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { ComposeOptions } from '../../src/compose/full.ts'
import { checkoutState } from '../support/checkout-state.ts'
import { type TestRepo, testRepo } from '../support/repo.ts'
import { library } from '../support/workspace.ts'

type Around = NonNullable<ComposeOptions['around']>

async function worked(user: TestRepo) {
  user.git('config', 'user.name', 'Ursula')
  user.git('config', 'user.email', 'ursula@example.com')
  const repo = library(user)
  const { task } = await repo.start({ task: 'T1' })
  writeFileSync(path.join(task.path, 'f'), 'of the agent\n')
  writeFileSync(path.join(task.path, 'new'), 'new\n')
  await repo.checkpoint({ task: 'T1' })
  user.write('mine', 'not committed\n')
  return { repo, task }
}

/** Somebody commits on main, from elsewhere: the checkout's files and index stay. */
function moveMain(user: TestRepo): string {
  const made = user.git('commit-tree', '-p', 'main', '-m', 'From elsewhere', 'main^{tree}').trim()
  user.git('update-ref', 'refs/heads/main', made)
  return made
}

/** Calls `then` when everything is staged, and nothing has been touched yet. */
const whenStaged = (then: () => void): Around => ({
  store: (store) => ({
    ...store,
    async append(change) {
      const appended = await store.append(change)
      if (change.entries.some(({ type }) => type === 'operation.staged')) then()
      return appended
    },
  }),
})

/** Dies at the first file that takes its place: what died cannot take anything back. */
function dying(): Around {
  let died = false
  const die = () => {
    died = true
    return Promise.reject(new Error('here it dies'))
  }
  return {
    checkouts: (checkouts) => ({ ...checkouts, place: die, changeIndex: die }),
    vault: (vault) => ({ ...vault, capture: (...call) => (died ? die() : vault.capture(...call)) }),
  }
}

test('A4: a branch that moves under an accept: nothing lands, and the next one does', async () => {
  const user = testRepo({ f: 'one\n' })
  const { repo } = await worked(user)
  let before = checkoutState(user)
  const around = whenStaged(() => {
    moveMain(user)
    before = checkoutState(user)
  })
  const overtaken = library(user, { around }).accept({ task: 'T1', as: 'squash' })
  await expect(overtaken).rejects.toMatchObject({ code: 'WT_011' })
  expect(checkoutState(user)).toEqual(before)
  expect(readdirSync(path.join(user.dir, '.git'))).not.toContain('index.lock')
  expect(await repo.recover()).toEqual([])
  await repo.accept({ task: 'T1', as: 'squash', message: 'All of it' })
  expect(user.git('log', '--format=%s')).toBe('All of it\nFrom elsewhere\nFirst commit\n')
  expect(user.git('status', '--porcelain')).toBe('?? mine\n')
})

test('A4: a branch that moves between a crash and its recovery: the accept is taken back', async () => {
  const user = testRepo({ f: 'one\n' })
  const { repo } = await worked(user)
  const around = whenStaged(() => {
    throw new Error('here it dies')
  })
  // What died cannot take anything back.
  const dying: Around = {
    ...around,
    checkouts: (checkouts) => ({ ...checkouts, unlockIndex: () => Promise.reject(new Error('dead')) }),
  }
  await expect(library(user, { around: dying }).accept({ task: 'T1', as: 'squash' })).rejects.toThrow(
    'here it dies',
  )
  moveMain(user)
  const before = checkoutState(user)
  const recovered = await repo.recover()
  expect(recovered).toMatchObject([{ task: 'T1', verdict: 'rolled back' }])
  expect(checkoutState(user)).toEqual(before)
  expect(readdirSync(path.join(user.dir, '.git'))).not.toContain('index.lock')
})

test('A4: a branch that moves before a recovery that would finish the accept: it is taken back', async () => {
  const user = testRepo({ f: 'one\n' })
  const { repo } = await worked(user)
  let died = false
  const die = () => {
    died = true
    return Promise.reject(new Error('here it dies'))
  }
  const around: Around = {
    exec: (exec) => (call) => (call.args[0] === 'update-ref' ? die() : exec(call)),
    store: (store) => ({ ...store, append: (change) => (died ? die() : store.append(change)) }),
  }
  const accepting = library(user, { around }).accept({ task: 'T1', as: 'squash' })
  await expect(accepting).rejects.toThrow('here it dies')
  moveMain(user)
  const before = checkoutState(user)
  expect(await repo.recover()).toMatchObject([{ task: 'T1', verdict: 'rolled back' }])
  expect(checkoutState(user)).toEqual(before)
  expect(readdirSync(path.join(user.dir, '.git'))).not.toContain('index.lock')
})

test('A4: a branch that moves on from a half-done accept stays there, and the accept is finished', async () => {
  const user = testRepo({ f: 'one\n' })
  const { repo } = await worked(user)
  await expect(library(user, { around: dying() }).accept({ task: 'T1', as: 'squash' })).rejects.toThrow(
    'here it dies',
  )
  const theirs = moveMain(user)
  const recovered = await repo.recover()
  expect(recovered).toMatchObject([{ task: 'T1', verdict: 'finished' }])
  expect(user.git('rev-parse', 'main').trim()).toBe(theirs)
  expect(user.git('status', '--porcelain')).toBe('?? mine\n')
  expect(readFileSync(path.join(user.dir, 'f'), 'utf8')).toBe('of the agent\n')
})

test('A4: what was staged and thrown away by somebody is staged again by the recovery', async () => {
  const user = testRepo({ f: 'one\n' })
  const { repo } = await worked(user)
  const accepting = library(user, { around: dying() }).accept({ task: 'T1', as: 'patch' })
  await expect(accepting).rejects.toThrow('here it dies')
  const git = path.join(user.dir, '.git')
  const staging = readdirSync(git).filter((name) => name.startsWith('offshoot-'))
  expect(staging).toHaveLength(1)
  rmSync(path.join(git, staging[0] ?? ''), { recursive: true })
  expect(await repo.recover()).toMatchObject([{ task: 'T1', verdict: 'finished' }])
  expect(user.git('status', '--porcelain')).toBe(' M f\n?? mine\n?? new\n')
})

test('P2: what is written between a killed rewind and its recovery is set aside', async () => {
  const user = testRepo({ f: 'one\n' })
  const { repo, task } = await worked(user)
  const around: Around = {
    vault: (vault) => ({ ...vault, restore: () => Promise.reject(new Error('here it dies')) }),
  }
  await expect(library(user, { around }).rewind({ task: 'T1', to: 0 })).rejects.toThrow('here it dies')
  writeFileSync(path.join(task.path, 'f'), 'written meanwhile\n')
  writeFileSync(path.join(task.path, 'new'), 'this too\n')
  const recovered = await repo.recover()
  expect(recovered).toMatchObject([{ task: 'T1', verdict: 'finished' }])
  expect(readFileSync(path.join(task.path, 'f'), 'utf8')).toBe('one\n')
  const trash = path.join(path.dirname(task.path), '.trash')
  const kept = readdirSync(trash, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'utf8'))
  expect(kept.sort()).toEqual(['this too\n', 'written meanwhile\n'])
})
