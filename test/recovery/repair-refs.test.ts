import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { libraryAsOther, ownedByOther } from '../support/other-user.ts'
import { offshoot, testRepo, type TestRepo } from '../support/repo.ts'
import { vaultDir } from '../support/vault.ts'
import { inFolder, once, ownRefs } from '../support/workspace.ts'

const doctor = (user: TestRepo) =>
  once(user, async (repo) => (await repo.doctor()).filter(({ status }) => status !== 'ok'))
const repair = (user: TestRepo) => once(user, (repo) => repo.repair())

async function started() {
  const user = testRepo()
  const { task } = await once(user, (repo) => repo.start({ task: 'T1' }))
  const [pin = ''] = ownRefs(user).filter((ref) => ref.includes('/base/'))
  const refs = { branch: `refs/heads/${task.branch}`, pin, mark: 'refs/offshoot/repo' }
  const at = (ref: string) => path.join(user.dir, '.git', ref)
  return { user, task, refs, at }
}

describe('R7: a ref that a power cut left empty is told and mended', () => {
  test.each(['branch', 'pin', 'mark'] as const)('the %s', async (which) => {
    const { user, refs, at } = await started()
    const before = readFileSync(at(refs[which]), 'utf8')
    writeFileSync(at(refs[which]), '')
    expect(await doctor(user)).toHaveLength(1)
    const { repaired, left } = await repair(user)
    expect([repaired.length, left]).toEqual([1, []])
    expect(readFileSync(at(refs[which]), 'utf8')).toBe(before)
    expect(await doctor(user)).toEqual([])
    user.git('fsck', '--strict')
  })

  test('a branch that was packed before is what it was', async () => {
    const { user, refs } = await started()
    user.git('pack-refs', '--all')
    const before = user.git('rev-parse', refs.branch)
    user.write(`.git/${refs.branch}`, '')
    expect((await repair(user)).left).toEqual([])
    expect(user.git('rev-parse', refs.branch)).toBe(before)
  })

  test.each(['', '\0'.repeat(41), 'garbage\n'])(
    'a start goes on whatever the mark says (%j)',
    async (text) => {
      const { user, refs, at } = await started()
      writeFileSync(at(refs.mark), text)
      expect((await offshoot(user, 'start', 'T2', '--json')).json.ok).toBe(true)
      expect(await doctor(user)).toEqual([])
    },
  )

  test('one of the user’s own stays as it is', async () => {
    const { user, at } = await started()
    writeFileSync(at('refs/heads/theirs'), '')
    await repair(user)
    expect(readFileSync(at('refs/heads/theirs'), 'utf8')).toBe('')
  })

  test('the ref of the steps: what needs them fails with WT_023 until repair', async () => {
    const user = testRepo()
    await offshoot(user, 'run', '--task', 'T1', '--', 'sh', '-c', 'echo x > x.txt')
    const tips = path.join(vaultDir(user), 'refs', 'tasks')
    const [uid = ''] = readdirSync(tips)
    writeFileSync(path.join(tips, uid), '')
    for (const verb of ['log', 'checkpoint', 'accept'])
      expect((await offshoot(user, verb, 'T1', '--json')).json.error?.code, verb).toBe('WT_023')
    expect((await repair(user)).left).toEqual([])
    expect((await offshoot(user, 'log', 'T1', '--json')).json.checkpoints).toHaveLength(1)
  })
})

test('R5: of the locks on our refs repair takes those that are left over, and none that is held', async () => {
  const { user, refs, at } = await started()
  const [old, fresh] = [`${at(refs.pin)}.lock`, `${at(refs.mark)}.lock`]
  for (const lock of [old, fresh]) writeFileSync(lock, '')
  utimesSync(old, new Date(0), new Date(0))
  expect((await repair(user)).repaired).toHaveLength(1)
  expect([old, fresh].map((lock) => existsSync(lock))).toEqual([false, true])
})

test('R7: what doctor says to do inside a workspace mends it from there', async () => {
  const { user, task, refs, at } = await started()
  const lock = `${at(refs.pin)}.lock`
  writeFileSync(lock, '')
  utimesSync(lock, new Date(0), new Date(0))
  const inside = inFolder(user, task.path)
  const home = user.env.OFFSHOOT_HOME ?? ''
  inFolder(user, home).write('state.json', '{}')
  const hints = (await doctor(inside)).map(({ hint }) => hint)
  expect(hints).toEqual([`offshoot repair -C ${home} sets it aside.`, `offshoot repair -C ${user.dir}`])
  await offshoot(inside, ...(hints[1] ?? '').split(' ').slice(1))
  expect([existsSync(lock), existsSync(path.join(home, 'state.json'))]).toEqual([false, false])
  expect(await doctor(inside)).toEqual([])
})

describe.runIf(process.getuid?.() === 0)('R5: what may not be read is not gone', () => {
  test('a folder of branches: doctor says so, and reject changes nothing', async () => {
    const user = ownedByOther(testRepo())
    const folder = path.join(user.dir, '.git', 'refs', 'heads', 'offshoot')
    const answer = await libraryAsOther(
      user,
      `await lib.start({ task: 'T1' })
       fs.chmodSync(${JSON.stringify(folder)}, 0)
       try {
         const told = (await lib.doctor()).filter(({ status }) => status !== 'ok')
         const refused = await lib.reject({ task: 'T1' }).catch(({ code }) => code)
         return { told: told.map(({ name, message }) => name + ': ' + message), refused }
       } finally { fs.chmodSync(${JSON.stringify(folder)}, 0o755) }`,
    )
    expect(answer).toMatchObject({
      told: expect.arrayContaining([
        expect.stringMatching(/^repository .*it could not be looked at: EACCES/),
      ]),
      refused: 'WT_022',
    })
    expect(existsSync(path.join(folder, 'T1'))).toBe(true)
    expect((await libraryAsOther(user, `return lib.show('T1')`)) as object).toMatchObject({ state: 'active' })
  })
})
