import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { noise } from '../support/random.ts'
import { type TestRepo, testRepo } from '../support/repo.ts'
import { recorded } from '../support/vault.ts'

const program = path.resolve(import.meta.dirname, '../support/vault-big.ts')

function through(repo: TestRepo, ...args: string[]) {
  repo.git('config', '--global', 'user.name', 'Ursula')
  repo.git('config', '--global', 'user.email', 'ursula@example.com')
  const output = execFileSync(process.execPath, [program, repo.dir, ...args], {
    env: repo.env,
    encoding: 'utf8',
  })
  return JSON.parse(output.trim().split('\n').at(-1) ?? '') as {
    same: boolean[]
    peaks: Record<string, number>
    own: number
    git: number
    command: string
  }
}

const limit = 200

describe.skipIf(process.platform !== 'linux')('K5: a file of 150 MB', () => {
  const settings: [string, (repo: TestRepo) => void][] = [
    ['as it is', () => {}],
    [
      'beside another one in the base',
      (repo) => {
        repo.write('base.bin', noise(150 * 1024 * 1024))
        repo.git('add', '--all')
        repo.git('commit', '--quiet', '--message=Big')
      },
    ],
    [
      'where attributes count',
      (repo) => {
        repo.write('.gitattributes', '* text=auto\n')
        repo.git('add', '--all')
        repo.git('commit', '--quiet', '--message=Attributes')
      },
    ],
    [
      'under a filter, as LFS is one',
      (repo) => {
        repo.git('config', '--global', 'filter.sum.clean', 'sha256sum')
        repo.git('config', '--global', 'filter.sum.required', 'true')
        repo.write('.gitattributes', '*.bin filter=sum\n')
        repo.git('add', '--all')
        repo.git('commit', '--quiet', '--message=Filter')
      },
    ],
  ]

  test.each(settings)(
    'K5: %s, comes through byte for byte, and memory stays flat',
    (name, before) => {
      const repo = testRepo()
      before(repo)
      const { same, peaks, own, git, command } = through(repo)
      console.log(`150 MB, ${name}: our peak ${own} MB, git's ${git} MB (${command})`, JSON.stringify(peaks))
      expect(same).toEqual([true, true, true, true, true])
      expect(own).toBeLessThanOrEqual(limit)
      expect(git).toBeLessThanOrEqual(limit)
    },
    300_000,
  )
})

test('K5: just above and below the sizes from which on files are streamed', async () => {
  const task = await recorded()
  const size = 4 * 1024 * 1024
  for (const more of [-1, 0, 1])
    writeFileSync(path.join(task.dir, `${more}.bin`), Buffer.alloc(size + more, 'x'))
  await task.step()
  for (const more of [-1, 0, 1])
    writeFileSync(path.join(task.dir, `${more}.bin`), Buffer.alloc(size - more, 'y'))
  await task.step()
  await task.rewindAll()
}, 120_000)

test.skipIf(process.platform !== 'linux')(
  'K5: twelve files of 15 MB do not need more memory than one',
  () => {
    const { same, peaks, own, git, command } = through(testRepo(), '15', '12')
    console.log(`12 x 15 MB: our peak ${own} MB, git's ${git} MB (${command})`, JSON.stringify(peaks))
    expect(same).toEqual([true, true, true, true, true])
    expect(own).toBeLessThanOrEqual(limit)
    expect(git).toBeLessThanOrEqual(limit)
  },
)
