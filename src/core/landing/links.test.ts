import { expect, test } from 'vitest'
import { foldersOf, whyRefused } from './links.ts'

/** `name -> target` for a link, a plain path for a file. */
const tree = (...entries: string[]) => {
  const links = new Map(entries.flatMap((entry) => (entry.includes(' -> ') ? [split(entry)] : [])))
  return { links, folders: foldersOf(entries.map((entry) => entry.split(' -> ')[0] ?? '')) }
}
const split = (entry: string): [string, string] => {
  const [name = '', target = ''] = entry.split(' -> ')
  return [name, target]
}

test.each([
  [['x -> /etc/passwd'], 'x'],
  [['x -> ../outside'], 'x'],
  [['a/x -> ../../outside', 'a/f'], 'a/x'],
  [['x -> a/../../outside', 'a/f'], 'x'],
  [['d -> .', 'out -> d/d/d/../../home/x'], 'out'],
  [['deep -> a/b', 'x -> deep/../../../y', 'a/b/f'], 'x'],
  [['one -> two', 'two -> /etc', 'x -> one/passwd'], 'x'],
  [['x -> missing/../../y'], 'x'],
  [['x -> missing/../y'], 'x'],
])('A9: in %j, %s leads out', (entries, link) => {
  expect(whyRefused(link, tree(...entries))).toBe('a link that leads out of the repository')
})

test.each(['.git/hooks', './.git', '.GIT/config', 'a/../.git', 'git~1/hooks', 'sub/.git/config'])(
  'A9: a link to %s leads into git',
  (target) => {
    expect(whyRefused('x', tree(`x -> ${target}`, 'a/f'))).toBe('a link that leads into the folder of git')
  },
)

test.each([
  [['x -> inside'], 'x'],
  [['sub/x -> ../beside', 'sub/f'], 'sub/x'],
  [['deep -> a/b', 'x -> deep/../f', 'a/b/f', 'a/f'], 'x'],
  [['x -> not/made/yet'], 'x'],
  [['x -> .gitignore'], 'x'],
  [['d -> .', 'x -> d/d/d/f', 'f'], 'x'],
  [['a -> b', 'b -> a'], 'a'],
])('A9: in %j, %s stays inside', (entries, link) => {
  expect(whyRefused(link, tree(...entries))).toBeUndefined()
})
