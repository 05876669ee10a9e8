/** Folders held open: no link below them is ever followed, whichever way they are held. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { HeldFolder } from '../core/ports/held.ts'
import { canHold, holdFolder } from './held.ts'

let root: string
let held: HeldFolder
const at = (...parts: string[]) => path.join(root, ...parts)
const writeTo = (file: string) => held.at(file, (full) => writeFileSync(full, 'ours', { flag: 'wx' }))
const conflict = expect.objectContaining({ code: 'WT_011' })

const ways = [
  { way: 'by descriptor', isOpen: true },
  { way: 'by path', isOpen: false },
].filter(({ isOpen }) => canHold() || !isOpen)

describe.each(ways)('a folder that is held $way', ({ isOpen }) => {
  beforeEach(() => {
    const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'offshoot-held-')))
    root = path.join(folder, 'root')
    mkdirSync(at('a', 'b'), { recursive: true })
    mkdirSync(at('..', 'outside'))
    held = holdFolder(root, isOpen)
  })
  afterEach(() => {
    held.close()
    rmSync(path.dirname(root), { recursive: true })
  })

  test('files are where they should be, whatever their names', () => {
    held.makeParents('new/\xc3\xa4/file')
    writeTo('new/\xc3\xa4/file')
    writeTo('a/b/file')
    writeTo('file')
    expect(['new/ä/file', 'a/b/file', 'file'].map((file) => readFileSync(at(file), 'utf8'))).toEqual(
      Array(3).fill('ours'),
    )
    expect(held.list('a')).toEqual([{ name: 'b', isFolder: true }])
    held.requireInPlace()
  })

  test('P4.4: a link or a file in the place of a folder is a conflict, the root included', () => {
    symlinkSync('../outside', at('link'))
    writeFileSync(at('plain'), '')
    for (const file of ['link/file', 'plain/file', 'a/../link/file'])
      expect(() => writeTo(file), file).toThrow(conflict)
    expect(() => held.makeParents('link/new/file')).toThrow(conflict)
    expect([held.look('link'), held.look('plain'), held.look('none'), held.look('a')]).toEqual([
      'blocked',
      'blocked',
      'missing',
      'folder',
    ])
    symlinkSync('root', at('..', 'to-root'))
    const linked = holdFolder(at('..', 'to-root'), isOpen)
    expect(() => linked.list('')).toThrow(conflict)
    expect(readdirSync(at('..', 'outside'))).toEqual([])
  })

  test('P4.4: a folder that is exchanged for a link meanwhile leads nowhere, and it is noticed', () => {
    writeTo('a/one')
    const exchange = () => {
      renameSync(at('a'), at('moved'))
      symlinkSync('../outside', at('a'))
    }
    const placing = () =>
      held.at(
        'a/two',
        (full) => {
          exchange()
          writeFileSync(full, 'ours', { flag: 'wx' })
        },
        (full) => rmSync(full),
      )
    if (isOpen) placing()
    else expect(placing).toThrow(conflict)
    expect(readdirSync(at('..', 'outside'))).toEqual([])
    expect(existsSync(at('moved', 'two'))).toBe(isOpen)
    expect(() => held.requireInPlace()).toThrow(conflict)
  })

  test('another folder at the path of one that was used is a conflict, until it is forgotten', () => {
    writeTo('a/one')
    renameSync(at('a'), at('moved'))
    mkdirSync(at('a'))
    expect(() => held.requireInPlace()).toThrow(conflict)
    held.forget('a')
    writeTo('a/two')
    held.requireInPlace()
    expect(readdirSync(at('a'))).toEqual(['two'])
  })

  test('only an empty folder is removed, and a new one may take its place', () => {
    expect(held.removeEmpty('a')).toBe(false)
    expect(held.removeEmpty('a/b')).toBe(true)
    held.makeParents('a/b/file')
    writeTo('a/b/file')
    held.requireInPlace()
    symlinkSync('a', at('link'))
    expect(held.removeEmpty('link')).toBe(false)
    expect(lstatSync(at('link')).isSymbolicLink()).toBe(true)
  })

  test('more folders than can be open at a time are all reached again', () => {
    const folders = Array.from({ length: 300 }, (_, n) => `many/${n}`)
    for (const folder of folders) held.makeParents(`${folder}/file`)
    for (const folder of folders) writeTo(`${folder}/file`)
    held.requireInPlace()
    expect(readdirSync(at('many'))).toHaveLength(300)
    if (isOpen) expect(readdirSync('/proc/self/fd').length).toBeLessThan(250)
  })

  test('an error names the path as the user knows it', () => {
    expect(() => held.at('a/none', (full) => readFileSync(full))).toThrow(
      expect.objectContaining({ code: 'ENOENT', message: expect.stringContaining(at('a', 'none')) }),
    )
  })
})
