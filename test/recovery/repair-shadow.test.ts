/** Damage to a task that works in the user's own checkout. */
import { expect, test } from 'vitest'
import { offshoot, testRepo } from '../support/repo.ts'

async function shadowed() {
  const user = testRepo()
  const run = (...args: string[]) => offshoot(user, ...args, '--json')
  await run('start', 'S', '--isolation', 'branch')
  user.write('z.txt', 'z\n')
  await run('checkpoint', 'S')
  const faults = async () =>
    (await run('doctor')).json.checks.filter(({ status }: { status: string }) => status !== 'ok')
  return { user, run, faults }
}

test.each([['repair'], ['repair', 'S']])(
  'R7: the branch of a shadow task is deleted: doctor names it, and repair makes it again',
  async (...verb) => {
    const { user, run, faults } = await shadowed()
    const head = user.git('rev-parse', 'HEAD')
    user.git('update-ref', '-d', 'refs/heads/offshoot/S')
    expect(await faults()).toMatchObject([{ name: 'task S', hint: 'offshoot repair S' }])
    const { code, json } = await run(...verb)
    expect([code, json.left]).toEqual([0, []])
    expect([user.git('rev-parse', 'HEAD'), user.git('status', '--porcelain')]).toEqual([head, ''])
    expect(await faults()).toEqual([])
  },
)

test('R7: the checkout of a shadow task is on another branch: it is told, and left to the user', async () => {
  const { user, run, faults } = await shadowed()
  user.git('switch', '--quiet', 'main')
  expect(await faults()).toMatchObject([
    { name: 'task S', verdict: 'report', hint: `git -C ${user.dir} switch offshoot/S` },
  ])
  expect((await run('repair')).json).toMatchObject({ repaired: [], left: [{ name: 'task S' }] })
  expect(user.git('branch', '--show-current')).toBe('main\n')
  user.git('switch', '--quiet', 'offshoot/S')
  expect(await faults()).toEqual([])
})
