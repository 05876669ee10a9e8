/** Objects of the vault: what is durable when, and what a disk that fails once must not hide. */
import { existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { quickFolder } from '../../../test/support/repo.ts'
import type { FileSystem } from '../../core/ports/files.ts'
import { nodeFiles } from '../../files/node.ts'
import { vaultObjects } from './objects.ts'

/** Packed objects are read by git: here there are none. */
const reader = {
  read: async () => undefined,
  readSize: async () => undefined,
  close: () => {},
  end: async () => {},
}
const full = () => Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })

function objectsWith(around: (files: FileSystem) => Partial<FileSystem>) {
  const vault = quickFolder()
  mkdirSync(path.join(vault, 'objects'))
  const files = nodeFiles()
  const told: string[] = []
  const objects = vaultObjects({ ...files, ...around(files) }, vault, 'sha1', reader, () =>
    told.push('broken'),
  )
  return { vault, objects, told, files }
}

const fileOf = (vault: string, oid: string) => path.join(vault, 'objects', oid.slice(0, 2), oid.slice(2))

test('P2.4: objects take their names after their contents are synced, and their folders are synced last', async () => {
  const calls: string[] = []
  const { vault, objects } = objectsWith((files) => ({
    placeDrafts: (drafts) => (calls.push('names'), files.placeDrafts(drafts)),
    sync: (paths) => (calls.push(...paths), files.sync(paths)),
  }))
  const oids = [await objects.put('blob', Buffer.from('one')), await objects.put('blob', Buffer.from('two'))]
  expect(oids.map((oid) => existsSync(fileOf(vault, oid)))).toEqual([false, false])
  await objects.sync()
  expect(calls[0]).toBe('names')
  const folders = oids.map((oid) => path.dirname(fileOf(vault, oid)))
  expect(calls.slice(1)).toEqual(expect.arrayContaining([...folders, path.join(vault, 'objects')]))
})

test('P2.4: an object that was there already is synced again, as its writer may have died before', async () => {
  const synced: string[] = []
  const { vault, objects } = objectsWith((files) => ({
    sync: (paths) => (synced.push(...paths), files.sync(paths)),
  }))
  const oid = await objects.put('blob', Buffer.from('one'))
  await objects.sync()
  synced.length = 0
  await objects.put('blob', Buffer.from('one'))
  await objects.sync()
  expect(synced).toContain(path.dirname(fileOf(vault, oid)))
})

test.each(['placeDrafts', 'sync'] as const)(
  'P2.13: a disk that is full once, in %s, fails that sync and every later one: objects are missing',
  async (method) => {
    let failed = false
    const { objects, told } = objectsWith((files) => ({
      [method]: (...call: never[]) => {
        if (failed) return (files[method] as (...call: never[]) => Promise<void>)(...call)
        failed = true
        return Promise.reject(full())
      },
    }))
    await objects.put('blob', Buffer.from('one'))
    await expect(objects.sync()).rejects.toThrow('ENOSPC')
    expect(told).toEqual(['broken'])
    await objects.put('blob', Buffer.from('two'))
    await expect(objects.sync()).rejects.toThrow('ENOSPC')
  },
)

test('P2.13: a sync that another one overtakes waits for it, and fails with it', async () => {
  let refuse: (error: Error) => void = () => {}
  let calls = 0
  const { objects } = objectsWith((files) => ({
    placeDrafts: (drafts) =>
      calls++ === 0 ? new Promise((_, reject) => (refuse = reject)) : files.placeDrafts(drafts),
  }))
  await objects.put('blob', Buffer.from('one'))
  const first = objects.sync()
  const second = objects.sync()
  refuse(full())
  await expect(first).rejects.toThrow('ENOSPC')
  await expect(second).rejects.toThrow('ENOSPC')
})
