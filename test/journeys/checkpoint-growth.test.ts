import { readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { testRepo } from '../support/repo.ts'
import { library } from '../support/workspace.ts'

/** Every object of the vaults, loose or packed. */
function objectsIn(home: string): number {
  const names = readdirSync(path.join(home, 'state', 'vaults'), { recursive: true, encoding: 'utf8' })
  return names.filter((name) => /objects\/([0-9a-f]{2}\/[0-9a-f]{38}|pack\/.*\.pack)$/.test(name)).length
}

test.each([10, 1_000])(
  'K1: in a repository of %i files a step of one file adds that file, the folders above it and itself',
  async (count) => {
    const files = Array.from({ length: count }, (_, n) => [`a/b${n % 10}/f${n}.txt`, `${n}\n`])
    const repo = testRepo(Object.fromEntries(files))
    const opened = () => library(repo, { env: { ...repo.env, OFFSHOOT_CHECKPOINTS_PUBLISH: 'never' } })
    const { task } = await opened().start({ task: 'T1' })
    const step = async (text: string) => {
      const lib = opened()
      writeFileSync(path.join(task.path, 'a/b0/f0.txt'), text)
      await lib.checkpoint({ task: 'T1' })
      // It ends what it does behind the scenes: the vault takes the base in after the first step.
      await lib.close()
      return objectsIn(repo.home)
    }
    const before = await step('first\n')
    // The content, three folders and the commit.
    expect((await step('second\n')) - before).toBe(5)
  },
)
