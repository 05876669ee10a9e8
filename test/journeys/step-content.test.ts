import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { noise } from '../support/random.ts'
import { recorded } from '../support/vault.ts'

type At = (name: string) => string
type Edit = (at: At, dir: string) => void

/** One after the other: each edit is a step, and every step can be gone back to. */
async function roundTrip(files: Record<string, string>, edits: readonly Edit[]): Promise<void> {
  const task = await recorded({ files })
  for (const edit of edits) {
    edit((name) => path.join(task.dir, name), task.dir)
    await task.step()
    await task.step({ created: false })
  }
  await task.rewindAll()
}

const base = { 'a.txt': 'one\n', 'dir/b.txt': 'two\n', 'dir/deep/c.txt': 'three\n' }

const replace = (put: (full: string) => void): Edit[] => [
  (at) => {
    rmSync(at('a.txt'), { recursive: true, force: true })
    put(at('a.txt'))
  },
  (at) => {
    rmSync(at('dir'), { recursive: true, force: true })
    put(at('dir'))
  },
]
const asFile = (full: string) => writeFileSync(full, 'a file now')
const asLink = (full: string) => symlinkSync('elsewhere', full)
const asLinkToFolder = (full: string) => symlinkSync('/etc', full)
const asFolder = (full: string) => {
  mkdirSync(path.join(full, 'in/side'), { recursive: true })
  writeFileSync(path.join(full, 'in/side/x.txt'), 'x')
  writeFileSync(path.join(full, 'y.txt'), 'y')
}

const cases: Record<string, Edit[]> = {
  'binary files': [
    (at) => writeFileSync(at('bin'), Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))),
    (at) => writeFileSync(at('a.txt'), noise(100_000)),
    (at) => appendFileSync(at('bin'), Buffer.from([0, 0xff, 0x0d, 0x0a])),
  ],
  'the executable bit, set and cleared': [
    (at) => chmodSync(at('a.txt'), 0o755),
    (at) => chmodSync(at('a.txt'), 0o644),
    (at) => {
      writeFileSync(at('run.sh'), '#!/bin/sh\n', { mode: 0o700 })
      chmodSync(at('dir/b.txt'), 0o744)
    },
  ],
  'links: inside, outside, dangling, changed': [
    (at) => symlinkSync('a.txt', at('link')),
    (at) => {
      unlinkSync(at('link'))
      symlinkSync('/etc/passwd', at('link'))
    },
    (at) => {
      unlinkSync(at('link'))
      symlinkSync('../../nowhere/at all', at('link'))
    },
    (at) => symlinkSync('dir', at('to-folder')),
    (at) => {
      unlinkSync(at('to-folder'))
      symlinkSync(Buffer.from([0xff, 0x0a, 0x20]), at('to-folder'))
    },
  ],
  'a file and a folder that become a file': replace(asFile),
  'a file and a folder that become a link': replace(asLink),
  'a file and a folder that become a link to a folder': replace(asLinkToFolder),
  'a file and a folder that become a folder': replace(asFolder),
  'every kind in place of every other': [
    asLink,
    asFolder,
    asLinkToFolder,
    asFile,
    asFolder,
    asLink,
    asFile,
  ].map(
    (put): Edit =>
      (at) => {
        rmSync(at('dir'), { recursive: true, force: true })
        put(at('dir'))
      },
  ),
  'empty files, and files that become empty': [
    (at) => writeFileSync(at('empty'), ''),
    (at) => writeFileSync(at('a.txt'), ''),
    (at) => appendFileSync(at('empty'), 'no more'),
  ],
  'line ends of every kind': [
    (at) => writeFileSync(at('crlf.txt'), 'one\r\ntwo\r\n'),
    (at) => writeFileSync(at('a.txt'), 'one\r\ntwo\nthree\rfour'),
    (at) => writeFileSync(at('crlf.txt'), 'one\ntwo\n'),
  ],
  'deletion, and deletion of all': [
    (at) => unlinkSync(at('a.txt')),
    (at) => rmSync(at('dir/deep'), { recursive: true }),
    (at) => rmSync(at('dir'), { recursive: true }),
    (at) => writeFileSync(at('back.txt'), 'back'),
  ],
  'renames, also of folders, and back': [
    (at) => renameSync(at('a.txt'), at('z.txt')),
    (at) => renameSync(at('dir'), at('folder')),
    (at) => renameSync(at('folder'), at('dir')),
    (at) => renameSync(at('z.txt'), at('a.txt')),
  ],
}

describe('K5: a step holds the workspace byte for byte, and each can be gone back to', () => {
  for (const [name, edits] of Object.entries(cases)) test(`K5: ${name}`, () => roundTrip(base, edits))
})

const names: [string, string | Buffer][] = [
  ['a newline', 'new\nline'],
  ['quotes', `"it's"`],
  ['a backslash', 'back\\slash\\n'],
  ['a leading dash', '-rf'],
  ['leading dashes', '--exec=x'],
  ['a trailing space', 'space '],
  ['a leading space', ' space'],
  ['a tab', 'tab\there'],
  ['a colon first', ':(top)x'],
  ['pattern characters', '*?[a]{b}!#'],
  ['a hash first', '#comment'],
  ['bytes that are no UTF-8', Buffer.from([0x66, 0xff, 0xfe, 0x80])],
  ['an emoji', '🦉 naïve'],
  ['decomposed letters', 'e\u0301'],
  ['control characters', '\x01\x1b[31m\x7f'],
  ['dots', '...'],
  ['the name of a lock', 'index.lock'],
  ['200 characters', 'x'.repeat(200)],
  ['255 bytes', 'y'.repeat(255)],
  ['a percent sign', '%41%00'],
]

describe('K5: odd names', () => {
  test.each(names)('K5: a file and a folder with %s', async (_, name) => {
    const task = await recorded({ files: base })
    const bytes = Buffer.from(name)
    const at = (...parts: (string | Buffer)[]) =>
      Buffer.concat([
        Buffer.from(task.dir),
        ...parts.flatMap((part) => [Buffer.from('/'), Buffer.from(part)]),
      ])
    writeFileSync(at(bytes), 'a file')
    await task.step()
    unlinkSync(at(bytes))
    mkdirSync(at(bytes))
    writeFileSync(at(bytes, bytes), 'in a folder')
    await task.step()
    writeFileSync(at(bytes, bytes), 'changed')
    symlinkSync(bytes, at(bytes, 'link'))
    await task.step()
    await task.rewindAll()
  })

  test('K5: a very deep path', async () => {
    const task = await recorded({ files: base })
    const folder = path.join(task.dir, ...Array.from({ length: 120 }, (_, depth) => `level-${depth}`))
    mkdirSync(folder, { recursive: true })
    writeFileSync(path.join(folder, 'deep.txt'), 'deep')
    await task.step()
    rmSync(path.join(task.dir, 'level-0'), { recursive: true })
    await task.step()
    await task.rewindAll()
  })
})

test('K5: 3,000 new files at once', async () => {
  const task = await recorded({ files: base })
  for (let n = 0; n < 3_000; n++) {
    const folder = path.join(task.dir, `many/${n % 40}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(path.join(folder, `${n}.txt`), `file ${n}\n`)
  }
  const { checkpoint } = await task.step()
  expect(checkpoint.files).toHaveLength(3_000)
  rmSync(path.join(task.dir, 'many/7'), { recursive: true })
  await task.step()
  await task.rewind(1)
  await task.rewind(0)
})
