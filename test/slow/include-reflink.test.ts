/** File systems that can share blocks, mounted from a file: only root may do that, and only where it is allowed. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readTree } from '../support/accept/disk.ts'
import { testRepo } from '../support/repo.ts'
import { library } from '../support/workspace.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'offshoot-reflink-'))
const made: string[] = []

/** Why it cannot be had here; undefined when it is mounted. */
function mount(kind: string): string | undefined {
  const [image, mounted] = [path.join(folder, `${kind}.image`), path.join(folder, kind)]
  mkdirSync(mounted)
  writeFileSync(image, '')
  truncateSync(image, 2 * 2 ** 30)
  try {
    execFileSync(`mkfs.${kind}`, ['-q', image], { stdio: ['ignore', 'ignore', 'pipe'] })
    execFileSync('mount', ['-o', 'loop', image, mounted], { stdio: ['ignore', 'ignore', 'pipe'] })
    made.push(mounted)
    return undefined
  } catch (thrown) {
    return (thrown as Error).message.trim()
  }
}

const disks = ['btrfs', 'xfs'].map((kind) => ({ kind, lack: mount(kind) }))
for (const { kind, lack } of disks) if (lack !== undefined) console.log(`skipped on ${kind}: ${lack}`)

afterAll(() => {
  // A git of ours that has just been told to end may still be in there.
  for (const mounted of made) execFileSync('umount', ['--lazy', mounted])
  rmSync(folder, { recursive: true, force: true })
})

function used(mounted: string): number {
  execFileSync('sync', ['--file-system', mounted])
  const { blocks, bfree, bsize } = statfsSync(mounted)
  return (blocks - bfree) * bsize
}

const count = 20_000
const size = 16 * 1024

describe.each(disks)('on $kind', ({ kind, lack }) => {
  // Without such a file system there are no blocks to be shared.
  test.skipIf(lack !== undefined)(
    'L15: a node_modules of 20,000 files arrives whole, and the disk holds it once',
    async () => {
      const mounted = path.join(folder, kind)
      const repo = testRepo({ '.gitignore': 'node_modules/\n' }, mounted)
      repo.write('.worktreeinclude', 'node_modules/\n')
      for (let n = 0; n < count; n++)
        repo.write(`node_modules/pkg-${n % 200}/file-${n}.js`, Buffer.alloc(size, `${n} `))
      const before = used(mounted)
      const { task, included } = await library(repo).start({ task: 'T1' })
      expect(included?.copied).toHaveLength(count)
      expect(readTree(path.join(task.path, 'node_modules'))).toEqual(
        readTree(path.join(repo.dir, 'node_modules')),
      )
      // What the names and the sizes of so many files take is not shared.
      expect(used(mounted) - before).toBeLessThan((count * size) / 3)
    },
  )
})
