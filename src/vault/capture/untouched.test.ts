/** The check without git that a workspace is untouched: every edit must be noticed. */
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { testRepo } from '../../../test/support/repo.ts'
import { settledLook, type Seen } from './overlay.ts'
import { isUntouched } from './untouched.ts'

const long = new Date('2020-01-01')

/** A checkout, and an index that git wrote some time after the files. */
function indexed() {
  const repo = testRepo()
  const at = (name: string) => path.join(repo.dir, name)
  mkdirSync(at('folder/deep'), { recursive: true })
  writeFileSync(at('plain'), 'plain')
  writeFileSync(at('folder/deep/file'), 'deep')
  writeFileSync(Buffer.concat([Buffer.from(`${repo.dir}/folder/`), Buffer.from([0xe9])]), 'latin')
  symlinkSync('plain', at('link'))
  repo.git('add', '--all')
  repo.git('commit', '--quiet', '--message', 'files')
  repo.git('update-index', '--refresh')
  const index = path.join(path.dirname(repo.dir), 'index')
  // A file written in the same clock tick as the index is never believed.
  do copyFileSync(path.join(repo.dir, '.git', 'index'), index)
  while (lstatSync(index).ctimeMs <= lstatSync(at('link')).ctimeMs)
  const seen = new Map<string, Seen>()
  return { repo, at, seen, look: () => isUntouched(repo.dir, index, { tip: '', seen, isNoted: true }, 20) }
}

describe('isUntouched', () => {
  test('R6: a workspace is as its index was written, with odd names and links', async () => {
    expect(await indexed().look()).toBe(true)
  })

  test.each<[string, (at: (name: string) => string) => void]>([
    ['edited', (at) => appendFileSync(at('plain'), 'x')],
    [
      'edited to the same size with its old time',
      (at) => {
        const { atime, mtime } = lstatSync(at('plain'))
        writeFileSync(at('plain'), 'PLAIN')
        utimesSync(at('plain'), atime, mtime)
      },
    ],
    ['deleted', (at) => rmSync(at('folder/deep/file'))],
    ['new', (at) => writeFileSync(at('folder/new'), '')],
    [
      'new, in a folder that is new',
      (at) => {
        mkdirSync(at('more'))
        writeFileSync(at('more/new'), '')
      },
    ],
    ['executable', (at) => chmodSync(at('plain'), 0o755)],
    [
      'a link instead',
      (at) => {
        renameSync(at('plain'), at('.git/was'))
        symlinkSync('.git/was', at('plain'))
      },
    ],
    [
      'behind a link to the folder, which is elsewhere',
      (at) => {
        renameSync(at('folder'), at('.git/was'))
        symlinkSync('.git/was', at('folder'))
      },
    ],
    [
      'another one of the same content and time',
      (at) => {
        copyFileSync(at('plain'), at('.git/copy'))
        const { atime, mtime } = lstatSync(at('plain'))
        utimesSync(at('.git/copy'), atime, mtime)
        renameSync(at('.git/copy'), at('plain'))
      },
    ],
  ])('R6: it is not when a file is %s', async (_, change) => {
    const { at, look } = indexed()
    change(at)
    expect(await look()).toBe(false)
  })

  test('R6: what the last step noted counts instead of the index', async () => {
    const { at, seen, look } = indexed()
    const leaf = { mode: '100644', oid: 'a'.repeat(40) } as const
    const noted = () =>
      settledLook(lstatSync(at('plain'), { bigint: true }), BigInt(Date.now() + 5_000) * 1_000_000n)
    appendFileSync(at('plain'), 'x')
    utimesSync(at('plain'), long, long)
    rmSync(at('link'))
    seen.set('link', { leaf: null, look: undefined }).set('plain', { leaf, look: noted() })
    // Right after the write, the stat is too recent to be trusted.
    expect(await look()).toBe(false)
    await expect.poll(look, { timeout: 10_000 }).toBe(true)
    appendFileSync(at('plain'), 'y')
    expect(await look()).toBe(false)
    seen.set('plain', { leaf, look: undefined })
    expect(await look()).toBe(false)
  })

  test('R6: an index with flags that hide edits is not believed', async () => {
    const { repo } = indexed()
    repo.git('update-index', '--assume-unchanged', 'plain')
    const index = path.join(repo.dir, '.git', 'index')
    const overlay = { tip: '', seen: new Map(), isNoted: true }
    expect(await isUntouched(repo.dir, index, overlay, 20)).toBe(false)
    expect(await isUntouched(repo.dir, path.join(repo.dir, 'none'), overlay, 20)).toBe(false)
  })
})
