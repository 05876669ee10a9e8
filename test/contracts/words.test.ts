/** GLOSSARY.md's *Avoid* column, enforced for its hardest words: in names that src exports, names of its files, and prose. */
import { globSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { documents, prose, read, root } from './documents.ts'

/** Words that always mean something else here. Others of the column are words of git or Node in another sense. */
const hardest = `
  assistant, backend, backup, bot, cache, callback, candidate, chat, checksum, cleanup, dirty list,
  driver, endpoint, frontend, gateway, guid, heal, job, leak, main worktree, mutation, mutex,
  object store, provider, purge, revision, room, service, session, side effect, snapshot, template, ticket,
  upstream, variant, working copy
`
  .split(',')
  .map((word) => word.trim())

/** Names that have one of them today. A count may only go down: lower it when one is renamed, never raise it. */
const inNames: Readonly<Record<string, number>> = {
  candidate: 2,
  snapshot: 2,
  template: 1,
}

/** The same for prose, by document: Node's compile cache, and a cache of Go modules. */
const inProse: Readonly<Record<string, number>> = {
  'docs/adr/0002-no-argument-parser-no-zod-on-the-way.md: cache': 1,
  'docs/commands.md: cache': 1,
}

/** `makePushRoom` and `make-push-room` are `make push room`. */
function words(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[-_./]/g, ' ')
    .toLowerCase()
}

const occurrences = (text: string, word: string) =>
  text.toLowerCase().match(new RegExp(`\\b${word.replace(' ', '\\s+')}(?:e?s)?\\b`, 'g'))?.length ?? 0

function exportedNames(file: string): string[] {
  const declared = /^export (?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm
  return [...read(file).matchAll(declared)].map(([, name = '']) => name)
}

function counted(found: Iterable<readonly [string, number]>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const [key, count] of found) if (count > 0) counts[key] = (counts[key] ?? 0) + count
  return counts
}

const sources = globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
const names = sources.flatMap((file) => [
  words(path.basename(file, '.ts')),
  ...exportedNames(file).map(words),
])

/** The prose of a document; of the glossary without the column of avoided words. */
function text(document: string): string {
  if (document !== 'GLOSSARY.md') return prose(document)
  return prose(document).replaceAll(/^(\|[^|]*\|[^|]*\|).*$/gm, '$1')
}
const judged = documents.filter((document) => !['CHANGELOG.md', 'NOTICE.md'].includes(document))

test('each word is in the Avoid column of GLOSSARY.md', () => {
  const rows = [...read('GLOSSARY.md').matchAll(/^\| \*\*.*\|([^|]*)\|$/gm)]
  const avoided = rows
    .flatMap(([, cell = '']) => cell.replaceAll(/\([^)]*\)/g, '').split(','))
    .map((word) => word.trim())
  expect(hardest.filter((word) => !avoided.includes(word))).toEqual([])
})

test('no file and no exported name of src has an avoided word, but for those counted here', () => {
  expect(names.length).toBeGreaterThan(500)
  const found = hardest.map(
    (word) => [word, names.filter((name) => occurrences(name, word) > 0).length] as const,
  )
  expect(counted(found)).toEqual(inNames)
})

test('no document has an avoided word, but for those counted here', () => {
  expect(judged.length).toBeGreaterThan(30)
  const found = judged.flatMap((document) =>
    hardest.map((word) => [`${document}: ${word}`, occurrences(text(document), word)] as const),
  )
  expect(counted(found)).toEqual(inProse)
})

describe('a planted word is found', () => {
  test.each([
    ['makePushRoom', 'room', 1],
    ['SideEffects', 'side effect', 1],
    ['mushroom', 'room', 0],
    ['caches', 'cache', 1],
  ])('%s: %s', (name, word, count) => {
    expect(occurrences(words(name), word)).toBe(count)
  })
})
