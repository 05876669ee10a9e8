/** A ref and a path of the state folder are spelled in core/model/refs.ts and core/model/layout.ts, and nowhere else in src. */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../../src')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')

const homes = ['core/model/refs.ts', 'core/model/layout.ts']

/** Names in layout.ts that mean other things, too: git's own, and the program's. */
const common = new Set(['.git', 'git', 'index', 'config', 'attributes', 'offshoot'])

/** Comments may show examples; what an import names is a file of src. */
const codeOf = (text: string) =>
  text
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/\b(?:from|import)\s*\(?\s*'[^'\n]*'/g, '')

/** What stands between quotes; what a template fills in is left out. */
const literalsOf = (code: string) =>
  Array.from(code.matchAll(/'([^'\n]*)'|"([^"\n]*)"|`([^`]*)`/g), ([, one, two, template = '']) => ({
    text: one ?? two ?? template.replaceAll(/\$\{[^}]*\}/g, '\0'),
    isFilledIn: template.includes('${'),
  }))

/** Every name that layout.ts gives to a file or folder: a new one is guarded from its first day. */
const names = new Set(
  literalsOf(codeOf(read('core/model/layout.ts')))
    .filter(({ text, isFilledIn }) => !isFilledIn && /^[\w.-]*[a-z][\w.-]*$/.test(text) && !common.has(text))
    .map(({ text }) => text),
)

/** A word of the language is a name only in a path: as an argument of `join`, or as a part of one that a template makes. */
const isWord = (name: string) => /^[a-z]+$/.test(name)

function findSpellings(text: string): string[] {
  const code = codeOf(text)
  const refs = Array.from(code.matchAll(/\brefs\\?\/(?:offshoot|heads|tasks|operations)\b/g), ([ref]) => ref)
  const joined = Array.from(
    code.matchAll(/\b(?:join|resolve)\(((?:[^()]|\([^()]*\))*)\)/g),
    ([, given = '']) => given,
  )
  const inPaths = joined.flatMap((given) => literalsOf(given).flatMap((literal) => literal.text.split('/')))
  const parts = literalsOf(code).flatMap(({ text, isFilledIn }) =>
    text.split('/').filter((part, _, all) => !isWord(part) || (isFilledIn && all.length > 1)),
  )
  return [...new Set([...refs, ...[...inPaths, ...parts].filter((part) => names.has(part))])]
}

const files = globSync('**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))

test('no other file spells a ref or a path of ours', () => {
  const others = files.filter((file) => !homes.includes(file))
  const found = others.flatMap((file) => findSpellings(read(file)).map((one) => `${file}: ${one}`))
  console.log(`${others.length} files, ${names.size} names, ${found.length} spelled elsewhere.`)
  expect(found).toEqual([])
  expect(others.length).toBeGreaterThan(200)
})

test('the names come from layout.ts', () => {
  expect([...names]).toEqual(
    expect.arrayContaining([
      'vaults',
      'workspaces',
      '.trash',
      '.pool',
      'locks',
      'children',
      'runs',
      'run-folders',
    ]),
  )
  expect([...names]).toEqual(
    expect.arrayContaining([
      'scratch',
      'aside',
      'state.db',
      'tasks',
      '.offshoot.yaml',
      'operations.jsonl',
      'repo.json',
    ]),
  )
})

test.each([
  ["const ref = `refs/heads/${'main'}`", ['refs/heads']],
  ["if (ref.startsWith('refs/offshoot/')) return", ['refs/offshoot']],
  ['const uid = /^refs\\/tasks\\/(\\w+)$/.exec(ref)', ['refs\\/tasks']],
  ["path.join(vault, 'tasks', uid)", ['tasks']],
  ["path.join(path.dirname(workspace), '.trash')", ['.trash']],
  ["const trash = '.trash'", ['.trash']],
  ["for (const name of ['state.db', 'repo.json']) go(name)", ['state.db', 'repo.json']],
  ['const lock = `${home}/locks/${name}`', ['locks']],
  ["const pool = 'workspaces/.pool/a'", ['.pool']],
  ["path.resolve(home, 'vaults/shop')", ['vaults']],
])('a planted spelling is found: %s', (code, found) => {
  expect(findSpellings(code)).toEqual(found)
})

test.each([
  "import { findTask } from '../tasks/find.ts'",
  "const { run } = await import('../core/runs/run.ts')",
  "/** Below `refs/heads/` and in '.trash'. */",
  "  // As in path.join(home, 'locks').",
  "fail('.offshoot.yaml is no plain file')",
  "return { do: 'locks', repo }",
  "path.join(commonDir, 'config')",
  "['refs/tags', 'refs/remotes']",
])('other words are left alone: %s', (code) => {
  expect(findSpellings(code)).toEqual([])
})
