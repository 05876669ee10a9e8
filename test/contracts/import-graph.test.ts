/** The imports of src as a graph: no file reaches itself by way of another folder. */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import {
  countImports,
  crossesFolders,
  findCycles,
  folderGraph,
  type ImportGraph,
  readImportGraph,
} from '../support/import-graph.ts'
import { tempFolder } from '../support/repo.ts'

const graph = readImportGraph(path.resolve(import.meta.dirname, '../../src'))

/** The folders in core, or in vault; a file of core or vault itself is in none. */
const foldersIn = (above: string) => (folder: string) => folder.startsWith(`${above}/`)

const shown = (cycles: readonly string[][]) => cycles.map((cycle) => cycle.join(' → '))

test('no cycle of imports in src leads through two folders', () => {
  const cycles = findCycles(graph).filter(crossesFolders)
  console.log(`${graph.size} files, ${countImports(graph)} imports, ${cycles.length} cycles between folders.`)
  expect(shown(cycles)).toEqual([])
})

test.each(['core', 'vault'])('the folders of %s import one another in one direction', (above) => {
  const folders = folderGraph(graph, foldersIn(above))
  const cycles = findCycles(folders)
  console.log(
    `${folders.size} folders of ${above}, ${countImports(folders)} directions, ${cycles.length} cycles.`,
  )
  expect(shown(cycles)).toEqual([])
})

test('the graph has every file and the imports that are known to be there', () => {
  expect(graph.size).toBeGreaterThan(200)
  expect(graph.get('compose/full.ts')).toEqual(expect.arrayContaining(['vault/index.ts', 'git/exec.ts']))
  expect(graph.get('cli/main.ts')).toContain('compose/full.ts')
})

function planted(files: Readonly<Record<string, string>>): ImportGraph {
  const root = tempFolder()
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
    writeFileSync(path.join(root, name), content)
  }
  return readImportGraph(root)
}

test.each([
  ['an import', `import { a } from '../one/a.ts'`],
  ['an import of several lines', `import {\n  a,\n} from '../one/a.ts'`],
  ['a type', `import type { A } from '../one/a.ts'`],
  ['a type in an expression', `export type B = import('../one/a.ts').A`],
  ['a re-export', `export * from '../one/a.ts'`],
  ['a lazy import', `export const load = () => import('../one/a.ts')`],
  ['an import for its effect', `import '../one/a.ts'`],
])('a planted cycle is found: %s', (_, back) => {
  const found = planted({
    'one/a.ts': `import './b.ts'`,
    'one/b.ts': `import '../two/c.ts'`,
    'two/c.ts': back,
    'two/d.ts': `import './c.ts'`,
    // What only tests and comments do is no import.
    'one/a.test.ts': `import '../three/e.ts'`,
    'three/e.ts': `/** import '../one/a.ts' */\nimport '../two/d.ts'`,
  })
  expect(shown(findCycles(found).filter(crossesFolders))).toEqual([
    'one/b.ts → two/c.ts → one/a.ts → one/b.ts',
  ])
})

test('a cycle inside of one folder is one, but crosses none', () => {
  const found = findCycles(planted({ 'one/a.ts': `import './b.ts'`, 'one/b.ts': `import './a.ts'` }))
  expect([found.length, found.filter(crossesFolders)]).toEqual([1, []])
})

test('folders that import one another are found, also where no file reaches itself', () => {
  const found = planted({
    'core/one/a.ts': `import '../two/c.ts'`,
    'core/one/b.ts': '',
    'core/two/c.ts': '',
    'core/two/d.ts': `import '../one/b.ts'`,
    'core/e.ts': `import './one/a.ts'`,
  })
  expect(findCycles(found)).toEqual([])
  expect(shown(findCycles(folderGraph(found, foldersIn('core'))))).toEqual(['core/one → core/two → core/one'])
})
