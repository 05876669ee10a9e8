/** P1, A4: somebody writes to the same files in the middle of a verb; what they wrote stays, and the verb says so. */
import { existsSync, globSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ComposeOptions } from '../../src/compose/full.ts'
import { checkoutState } from '../support/checkout-state.ts'
import { quickFolder, type TestRepo, testRepo } from '../support/repo.ts'
import { vaultDir } from '../support/vault.ts'
import { library } from '../support/workspace.ts'

type Around = NonNullable<ComposeOptions['around']>

const files = { a: 'a\n', f: 'one\n', gone: 'soon gone\n', z: 'z\n' }

/** An agent has changed `a`, `f` and `z`, deleted `gone`, and made `new`. */
async function worked() {
  const user = testRepo(files, quickFolder())
  user.git('config', 'user.name', 'Ursula')
  user.git('config', 'user.email', 'ursula@example.com')
  const repo = library(user)
  const { task } = await repo.start({ task: 'T1' })
  for (const name of ['a', 'f', 'z', 'new']) writeFileSync(path.join(task.path, name), 'of the agent\n')
  rmSync(path.join(task.path, 'gone'))
  await repo.checkpoint({ task: 'T1' })
  return { user, repo, task }
}

const textOf = (user: TestRepo, name: string) => {
  const file = path.join(user.dir, name)
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}
const all = (user: TestRepo) => ['a', 'f', 'gone', 'new', 'z'].map((name) => textOf(user, name))
const landed = ['of the agent\n', 'of the agent\n', undefined, 'of the agent\n', 'of the agent\n']
const own = Object.values(files)

/** Calls `act` once, at that moment of a verb. */
const moments: Record<string, (act: () => void) => Around> = {
  'after the plan is written down': (act) => ({
    vault: (vault) => ({ ...vault, keep: (...call) => vault.keep(...call).then(act) }),
  }),
  'after all is staged': (act) => ({
    store: (store) => ({
      ...store,
      async append(change) {
        const appended = await store.append(change)
        if (change.entries.some(({ type }) => type === 'operation.staged')) act()
        return appended
      },
    }),
  }),
  'while the files are put in place': (act) => {
    let done = false
    const first = () => {
      if (!done) act()
      done = true
    }
    return {
      checkouts: (checkouts) => ({
        ...checkouts,
        place: (...call) => (first(), checkouts.place(...call)),
        removeFile: (...call) => (first(), checkouts.removeFile(...call)),
      }),
    }
  },
}

const names = ['f', 'gone', 'new']
const edits: Record<string, (user: TestRepo, name: string) => void> = {
  'an edit': (user, name) => user.write(name, 'of the second writer\n'),
  'an edit of the same length': (user, name) => user.write(name, 'x'.repeat(textOf(user, name)?.length ?? 1)),
  'another file of that name': (user, name) => {
    rmSync(path.join(user.dir, name), { force: true })
    user.write(name, 'of the second writer\n')
  },
}

describe.each(Object.entries(edits))('P1.7: %s', (_, edit) => {
  const meet = async (moment: string) => {
    const { user, repo } = await worked()
    let theirs: (string | undefined)[] = []
    const around = moments[moment]!(() => {
      for (const name of names) edit(user, name)
      theirs = all(user)
    })
    const answer = await library(user, { around })
      .accept({ task: 'T1', as: 'patch' })
      .catch((thrown: unknown) => thrown)
    expect(await repo.recover()).toEqual([])
    const inGit = readdirSync(path.join(user.dir, '.git'))
    expect(inGit.filter((name) => /^offshoot-|\.lock$/.test(name))).toEqual([])
    return { answer, theirs, now: all(user) }
  }

  test('before the files are staged stops an accept', async () => {
    const { answer, theirs, now } = await meet('after the plan is written down')
    const conflicts = names.map((name) => ({ path: name, kind: 'changed' }))
    expect(answer).toMatchObject({ code: 'WT_011', data: { conflicts: expect.arrayContaining(conflicts) } })
    expect(now).toEqual(theirs)
  })

  test.each(['after all is staged', 'while the files are put in place'])(
    'made %s stays, everything else lands, and the accept tells',
    async (moment) => {
      const { answer, theirs, now } = await meet(moment)
      expect(answer).toMatchObject({ left: expect.arrayContaining(names) })
      expect(now).toEqual([landed[0], ...theirs.slice(1, 4), landed[4]])
    },
  )
})

test('P1.7: a link in the place of a file stays a link, and nobody writes through it', async () => {
  const { user } = await worked()
  const outside = path.join(user.home, 'outside')
  writeFileSync(outside, 'outside\n')
  const around = moments['while the files are put in place']!(() => {
    rmSync(path.join(user.dir, 'f'))
    symlinkSync(outside, path.join(user.dir, 'f'))
  })
  expect((await library(user, { around }).accept({ task: 'T1', as: 'patch' })).left).toEqual(['f'])
  expect(readFileSync(outside, 'utf8')).toBe('outside\n')
})

test('P1.7: an edit between a crash and its recovery stays, everything else lands, and the recovery tells', async () => {
  const { user, repo } = await worked()
  let died = false
  const die = () => {
    died = true
    return Promise.reject(new Error('here it dies'))
  }
  const dying: Around = {
    checkouts: (checkouts) => ({ ...checkouts, place: die, removeFile: die }),
    vault: (vault) => ({ ...vault, capture: (...call) => (died ? die() : vault.capture(...call)) }),
  }
  const accepting = library(user, { around: dying }).accept({ task: 'T1', as: 'patch' })
  await expect(accepting).rejects.toThrow('here it dies')
  user.write('f', 'of the second writer\n')
  const [recovered] = await repo.recover()
  expect(recovered).toMatchObject({
    verdict: 'finished',
    why: expect.stringMatching(/changed meanwhile: f$/),
  })
  expect(all(user)).toEqual(landed.with(1, 'of the second writer\n'))
})

test('P1.7: an edit in the middle of an undo stays, everything else goes back, and the undo tells', async () => {
  const { user, repo } = await worked()
  const { operation } = await repo.accept({ task: 'T1', as: 'patch' })
  const around = moments['while the files are put in place']!(() => user.write('f', 'of the second writer\n'))
  expect((await library(user, { around }).undo(operation)).left).toEqual(['f'])
  expect(all(user)).toEqual([own[0], 'of the second writer\n', own[2], undefined, own[3]])
})

/** Once: what was written of it can be taken back. */
function failingIndex(when: 'before' | 'after'): Around {
  return {
    checkouts(checkouts) {
      let failed = false
      return {
        ...checkouts,
        async changeIndex(...call) {
          if (when === 'after' || failed) await checkouts.changeIndex(...call)
          if (failed) return
          failed = true
          throw Object.assign(new Error('EIO: i/o error, rename'), { code: 'EIO' })
        },
      }
    },
  }
}

test.each(['before', 'after'] as const)(
  'A4: files and index are as they were when the index fails %s it was replaced',
  async (when) => {
    const { user, repo } = await worked()
    const before = checkoutState(user)
    const accepting = library(user, { around: failingIndex(when) }).accept({ task: 'T1', as: 'squash' })
    await expect(accepting).rejects.toMatchObject({ hint: expect.stringContaining('Nothing was changed.') })
    expect(checkoutState(user)).toEqual(before)
    expect(all(user)).toEqual([own[0], own[1], own[2], undefined, own[3]])
    expect(await repo.recover()).toEqual([])
  },
)

test('A4: an edit while a failed landing is taken back stays, the rest goes back, and the error tells', async () => {
  const { user } = await worked()
  const failing = failingIndex('after')
  const around: Around = {
    checkouts(checkouts) {
      const inner = failing.checkouts!(checkouts)
      return {
        ...inner,
        changeIndex: (...call) =>
          inner.changeIndex(...call).catch((thrown: unknown) => {
            user.write('f', 'of the second writer\n')
            throw thrown
          }),
      }
    },
  }
  const accepting = library(user, { around }).accept({ task: 'T1', as: 'squash' })
  await expect(accepting).rejects.toMatchObject({ hint: expect.stringContaining('just changed f;') })
  expect(all(user)).toEqual([own[0], 'of the second writer\n', own[2], undefined, own[3]])
})

test('P2.12: the vault notes that an operation is done before the records say so', async () => {
  const { user } = await worked()
  const noted: boolean[] = []
  const around: Around = {
    store: (store) => ({
      ...store,
      async append(change) {
        const done = change.entries.some(({ type }) => type === 'operation.done')
        const [file = ''] = globSync(path.join(vaultDir(user), 'operations.jsonl'))
        if (done) noted.push(file !== '' && readFileSync(file, 'utf8').includes('"patch"'))
        return store.append(change)
      },
    }),
  }
  await library(user, { around }).accept({ task: 'T1', as: 'patch' })
  expect(noted).toEqual([true])
})
