import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder, testRepo } from '../../test/support/repo.ts'
import { isPlainObjects } from './plain-objects.ts'

function objectsOf() {
  return path.join(testRepo().dir, '.git', 'objects')
}

test('the objects that git wrote are plain', async () => {
  expect(await isPlainObjects(objectsOf())).toBe(true)
})

test.each(['pack/multi-pack-index', 'info/commit-graph', 'ab/cdef', 'pipe'])(
  'a pipe at %s is seen',
  async (name) => {
    const objects = objectsOf()
    mkdirSync(path.dirname(path.join(objects, name)), { recursive: true })
    execFileSync('mkfifo', [path.join(objects, name)])
    expect(await isPlainObjects(objects)).toBe(false)
  },
)

test.each(['pack/pack-1.idx', 'ab'])('a link at %s is seen', async (name) => {
  const objects = objectsOf()
  symlinkSync(tempFolder(), path.join(objects, name))
  expect(await isPlainObjects(objects)).toBe(false)
})

test('a folder that is not there lends nothing', async () => {
  expect(await isPlainObjects('/nonexistent')).toBe(false)
})
