import { existsSync, readFileSync, renameSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { openRepo } from '../../src/index.ts'
import { worked } from '../support/worked.ts'

test('P3, R7: what was landed is taken back where the repository is now', async () => {
  const { user, repo } = await worked({ f: 'one\n' }, [{ f: 'two\n', g: 'new\n' }])
  const { operation } = await repo.accept({ task: 'T1', as: 'patch', keep: true })
  await repo.close()
  const there = path.join(user.home, 'elsewhere')
  renameSync(user.dir, there)
  const moved = openRepo(there, { env: user.env })
  try {
    await moved.start({ task: 'T1' })
    await moved.undo(operation)
  } finally {
    await moved.close()
  }
  expect(readFileSync(path.join(there, 'f'), 'utf8')).toBe('one\n')
  expect(existsSync(path.join(there, 'g'))).toBe(false)
  expect(existsSync(user.dir)).toBe(false)
})
