/** What a vault says of itself, damaged. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { loseRecords } from '../support/damage.ts'
import { offshoot, testRepo } from '../support/repo.ts'
import { vaultDir } from '../support/vault.ts'
import { inFolder } from '../support/workspace.ts'

/** A repository with a step of T1 in its vault. */
async function kept() {
  const user = testRepo()
  await offshoot(user, 'run', '--task', 'T1', '--', 'sh', '-c', 'echo x > x.txt')
  const run = (...args: string[]) => offshoot(user, ...args, '--json')
  return { user, run, at: (name: string) => path.join(vaultDir(user), name) }
}

type Told = { name: string; status: string; hint: string }
const faults = ({ json }: { json: { checks: Told[] } }) => json.checks.filter(({ status }) => status !== 'ok')

describe('R7: a vault that does not say which repository it belongs to', () => {
  test.each([
    ['is not there', (file: string) => rmSync(file)],
    ['is garbage', (file: string) => writeFileSync(file, '{')],
    ['is of another one', (file: string) => writeFileSync(file, '{"id":"another"}')],
  ])('as repo.json %s: doctor names it, and repair writes it again', async (_, damage) => {
    const { run, at } = await kept()
    const before = readFileSync(at('repo.json'), 'utf8')
    damage(at('repo.json'))
    expect(faults(await run('doctor'))).toMatchObject([
      { name: expect.stringMatching(/^vault /), status: 'fail', hint: 'offshoot repair' },
    ])
    expect((await run('repair')).json).toMatchObject({ left: [], repaired: [{}] })
    expect(readFileSync(at('repo.json'), 'utf8')).toBe(before)
    expect(faults(await run('doctor'))).toEqual([])
  })

  test('and whose records are lost is known by the mark of its repository', async () => {
    const { user, run, at } = await kept()
    rmSync(at('repo.json'))
    loseRecords(user)
    const elsewhere = inFolder(user, user.home)
    expect(faults(await run('doctor'))).toMatchObject([{ name: expect.stringMatching(/^vault /) }])
    const { code, json } = await offshoot(elsewhere, 'repair', '--rebuild', '--json')
    expect([code, json.rebuilt]).toMatchObject([
      1,
      { tasks: [], left: [{ hint: expect.stringContaining('offshoot repair --rebuild') }] },
    ])
    expect((await run('repair', '--rebuild')).json.rebuilt).toMatchObject({
      tasks: ['T1'],
      steps: 1,
      left: [],
    })
    expect(faults(await run('doctor'))).toEqual([])
  })
})

test.each([
  ['HEAD', 'xx\n'],
  ['config', '[[[\n'],
])('R7: a vault whose %s is garbage: doctor names it, and repair writes it again', async (name, garbage) => {
  const { run, at } = await kept()
  const before = readFileSync(at(name), 'utf8')
  writeFileSync(at(name), garbage)
  expect(faults(await run('doctor'))).toMatchObject([
    { name: expect.stringMatching(/^vault /), status: 'fail', hint: 'offshoot repair' },
  ])
  expect((await run('repair')).json).toMatchObject({ left: [], repaired: [{}] })
  expect(readFileSync(at(name), 'utf8')).toBe(before)
  expect(faults(await run('doctor'))).toEqual([])
})
