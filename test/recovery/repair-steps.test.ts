/** Steps that the records know of and the vault does not find: never the beginning of another line of them. */
import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { offshoot } from '../support/repo.ts'
import { vaultDir } from '../support/vault.ts'
import { withEnv } from '../support/workspace.ts'
import { worked } from '../support/worked.ts'

/** A task with two steps, and work that no step has. */
async function twoSteps() {
  const { user: plain, repo, at, task } = await worked({}, [{ 'n.txt': '1\n' }, { 'n.txt': '1\n2\n' }])
  await repo.close()
  const user = withEnv(plain, { OFFSHOOT_POOL_SIZE: '0' })
  const vault = vaultDir(user)
  const [uid = ''] = readdirSync(path.join(vault, 'refs', 'tasks'))
  writeFileSync(at('n.txt'), '1\n2\n3\n')
  const run = (...args: string[]) => offshoot(user, ...args, '--json')
  const steps = async () => (await run('log', 'T1')).json.checkpoints.map(({ n }: { n: number }) => n)
  return { user, task, at, vault, ref: path.join(vault, 'refs', 'tasks', uid), run, steps }
}

const verbs = [
  ['checkpoint', 'T1'],
  ['log', 'T1'],
  ['show', 'T1'],
  ['diff', 'T1'],
  ['rewind', 'T1', '--to', '1'],
  ['accept', 'T1'],
  ['update', 'T1'],
  ['exec', 'T1', '--', 'true'],
  ['reject', 'T1'],
]

describe('R5: steps that the vault does not find', () => {
  test('make every verb fail that takes or reads steps, and repair brings them back', async () => {
    const { ref, run, steps } = await twoSteps()
    rmSync(ref)
    for (const verb of verbs) {
      const [name = '', ...rest] = verb
      const { code, json } = await run(name, ...(rest.includes('--') ? rest.toSpliced(1, 0, '--json') : rest))
      expect({ name, code, error: json.error }).toMatchObject({
        name,
        code: 1,
        error: { code: 'WT_023', hint: expect.stringContaining('offshoot repair T1') },
      })
    }
    expect(existsSync(ref)).toBe(false)
    expect((await run('repair', 'T1')).json).toMatchObject({ repaired: [{ name: 'task T1' }], left: [] })
    expect(await steps()).toEqual([1, 2])
    expect((await run('checkpoint', 'T1')).json.checkpoint.n).toBe(3)
    expect((await run('rewind', 'T1', '--to', '2')).code).toBe(0)
    expect((await run('repair')).json).toMatchObject({ repaired: [], left: [] })
  })

  test('after a reject, are missed by whoever undoes it, and repair brings them back', async () => {
    const { ref, run, steps } = await twoSteps()
    expect((await run('reject', 'T1')).code).toBe(0)
    rmSync(ref)
    expect((await run('undo')).code).toBe(0)
    expect((await run('checkpoint', 'T1')).json.error.code).toBe('WT_023')
    expect((await run('repair')).json.left).toEqual([])
    // The last one is what the reject kept.
    expect(await steps()).toEqual([1, 2, 3])
    expect((await run('repair')).json).toMatchObject({ repaired: [], left: [] })
  })

  test('because the folder of refs is gone, come back with one repair', async () => {
    const { vault, run, steps } = await twoSteps()
    rmSync(path.join(vault, 'refs'), { recursive: true })
    expect((await run('checkpoint', 'T1')).json.error.code).toBe('WT_023')
    expect((await run('repair')).json.left).toEqual([])
    expect(await steps()).toEqual([1, 2])
    expect((await run('repair')).json).toMatchObject({ repaired: [], left: [] })
    expect((await run('checkpoint', 'T1')).json.checkpoint.n).toBe(3)
  })

  test('because the vault is gone, are not begun anew: it is told, and a backup of it brings them back', async () => {
    const { user, vault, run, steps } = await twoSteps()
    const backup = path.join(user.home, 'backup')
    cpSync(vault, backup, { recursive: true })
    rmSync(vault, { recursive: true })
    for (const verb of [
      ['log', 'T1'],
      ['checkpoint', 'T1'],
      ['reject', 'T1'],
    ])
      expect((await run(...verb)).json.error.code).toBe('WT_023')
    for (const repair of [['repair', 'T1'], ['repair']]) {
      const { code, json } = await run(...repair)
      expect([code, json.left]).toMatchObject([1, [{ hint: expect.stringContaining('backup') }]])
    }
    expect(existsSync(vault)).toBe(false)
    cpSync(backup, vault, { recursive: true })
    expect(await steps()).toEqual([1, 2])
    expect((await run('checkpoint', 'T1')).json.checkpoint.n).toBe(3)
  })
})
