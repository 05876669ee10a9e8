import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { loseRecords } from '../support/damage.ts'
import { libraryAsOther, ownedByOther } from '../support/other-user.ts'
import { offshoot, testRepo, type TestRepo } from '../support/repo.ts'
import { inFolder, once, ownRefs, withEnv } from '../support/workspace.ts'

const doctor = (user: TestRepo) =>
  once(user, async (repo) => (await repo.doctor()).filter(({ status }) => status !== 'ok'))

describe.runIf(process.getuid?.() === 0)(
  'R5: one folder that may not be read is told, and stops no other look',
  () => {
    test.each([
      ['a vault of no repository', 'vaults/zz.git/refs/tasks', 0, 'vault zz'],
      ['the folder of the workspaces', 'workspaces/NAME', 0o300, 'workspaces of NAME'],
    ])('%s', async (_, where, mode, what) => {
      const user = ownedByOther(testRepo())
      const answer = (await libraryAsOther(
        user,
        `const { task } = await lib.start({ task: 'T1' })
       const name = task.path.split('/').at(-2)
       const folder = ${JSON.stringify(`${user.env.OFFSHOOT_HOME}/${where}`)}.replace('NAME', name)
       fs.mkdirSync(folder, { recursive: true })
       const pin = ${JSON.stringify(path.join(user.dir, '.git/refs/offshoot/base'))}
       for (const one of fs.readdirSync(pin)) fs.rmSync(pin + '/' + one)
       fs.chmodSync(folder, ${mode})
       try {
         const told = (await lib.doctor()).filter(({ status }) => status !== 'ok')
         return { name, told: told.map(({ name }) => name), recovered: await lib.recover() }
       } finally { fs.chmodSync(folder, 0o700) }`,
      )) as { name: string; told: string[]; recovered: unknown[] }
      const expected = [what.replace('NAME', answer.name), 'task T1']
      expect(answer.told).toEqual(expect.arrayContaining(expected))
      expect(answer.recovered).toEqual([])
    })
  },
)

test('R7: where a repository and a vault cannot be read, repair mends what is of others, and nothing of theirs', async () => {
  const [user, other] = [testRepo(), testRepo()]
  const there = withEnv(other, { OFFSHOOT_HOME: user.env.OFFSHOOT_HOME ?? '' })
  await offshoot(user, 'run', '--task', 'T1', '--', 'sh', '-c', 'echo x > x.txt')
  loseRecords(user)
  for (const repo of [user, there]) await offshoot(repo, 'start', 'T2')
  for (const repo of [user, there])
    for (const ref of ownRefs(repo)) if (ref.includes('/base/')) repo.git('update-ref', '-d', ref)
  writeFileSync(path.join(other.dir, '.git', 'packed-refs'), 'garbage\n')
  inFolder(user, user.env.OFFSHOOT_HOME ?? '').write('vaults/zz.git/refs/tasks/11111111111111111111', '')
  const { json } = await offshoot(user, 'repair', '--json')
  const names = (found: { name: string }[]) => found.map(({ name }) => name).toSorted()
  expect(names(json.repaired)).toEqual(['task T1', 'task T2'])
  expect(names(json.left)).toEqual([expect.stringMatching(/^repository /), 'vault zz'])
  expect((await once(user, (repo) => repo.list())).map(({ id }) => id).toSorted()).toEqual(['T1', 'T2'])
  rmSync(path.join(other.dir, '.git', 'packed-refs'))
  expect(names([...(await once(user, (repo) => repo.repair())).repaired])).toContain('task T2')
})

test.each(['worktree', 'clone'] as const)(
  'R7: a folder where the workspace of a closed task was (%s) is told, and why undo refuses',
  async (isolation) => {
    const user = testRepo()
    const { task } = await once(user, (repo) => repo.start({ task: 'T1', isolation }))
    await once(user, (repo) => repo.reject({ task: 'T1' }))
    expect(await doctor(user)).toEqual([])
    mkdirSync(task.path)
    inFolder(user, task.path).write('f', 'x\n')
    const name = `folder ${path.basename(task.path)}`
    expect(await doctor(user)).toMatchObject([
      {
        name,
        verdict: 'report',
        message: expect.stringContaining('of T1'),
        why: expect.stringContaining('WT_001'),
      },
    ])
    await expect(once(user, (repo) => repo.undo())).rejects.toMatchObject({ code: 'WT_001' })
    expect((await offshoot(user, 'recover', '--json')).json).toMatchObject({
      recovered: [],
      reported: [{ name }],
    })
    rmSync(task.path, { recursive: true })
    await once(user, (repo) => repo.undo())
    expect(await doctor(user)).toEqual([])
  },
)
