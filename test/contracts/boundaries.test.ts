import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')

/** A room, or a file of src/, and what it imports. */
type Imports = Record<string, string[]>

const forbidden: Imports = {
  core: [
    '../git/exec.ts',
    '../protocol/task.ts',
    '../compose.ts',
    '../index.ts',
    'zod',
    'node:fs',
    'node:fs/promises',
    'node:child_process',
    'node:process',
    'node:sqlite',
    '../../test/support/repo.ts',
    '../../bench/run.ts',
  ],
  'core/verbs': ['../../git/exec.ts'],
  git: ['../vault/pins.ts', 'node:child_process'],
  'git/exec.ts': ['node:child_process'],
  vault: ['../store/sqlite.ts', 'node:sqlite'],
  land: ['../vault/pins.ts'],
  store: ['../git/exec.ts', 'node:child_process'],
  lock: ['../store/sqlite.ts'],
  files: ['../process/spawn.ts', 'node:child_process'],
  'files/sync.ts': ['node:child_process'],
  process: ['../git/exec.ts', 'node:child_process'],
  'process/spawn.ts': ['../git/exec.ts', '../files/make-folders.ts'],
  agents: ['../sandbox/none.ts', 'node:child_process'],
  sandbox: ['../git/exec.ts', '../process/spawn.ts', 'node:child_process'],
  settings: ['../files/copy.ts'],
  actions: ['../protocol/parse.ts', '../api/call.ts', 'zod', 'node:path'],
  protocol: ['../core/task.ts', '../api/call.ts', 'node:path'],
  'protocol/schemas': ['../../api/call.ts', 'node:path'],
  api: ['../store/sqlite.ts', '../client/socket.ts', '../protocol/parse.ts'],
  client: ['../core/task.ts', '../api/call.ts'],
  cli: [
    '../git/exec.ts',
    '../process/spawn.ts',
    '../compose.ts',
    '../protocol/parse.ts',
    'node:child_process',
    'yaml',
    'zod',
  ],
  'cli/commands': ['../../compose.ts', '../../process/spawn.ts'],
  'cli/pager.ts': ['node:child_process', '../core/task.ts'],
  'cli/detach.ts': ['node:child_process'],
  'cli/commands/demo.ts': ['node:child_process'],
  'cli/main.ts': ['../git/exec.ts', '../protocol/parse.ts'],
  mcp: ['../store/sqlite.ts', '../compose.ts'],
  daemon: ['../cli/main.ts', '../compose.ts'],
  'index.ts': ['./git/exec.ts', './cli/main.ts', './protocol/parse.ts'],
  'compose.ts': ['node:sqlite', '../test/support/repo.ts'],
}

const allowed: Imports = {
  core: ['node:path', '../core/task.ts', './git/task.ts'],
  'core/verbs': ['../task.ts', 'node:crypto'],
  git: ['../core/task.ts', 'node:fs/promises'],
  'git/exec.ts': ['../process/spawn.ts'],
  vault: ['../git/exec.ts'],
  land: ['../git/exec.ts'],
  store: ['node:sqlite'],
  lock: ['node:sqlite'],
  process: ['../files/make-folders.ts'],
  'process/spawn.ts': ['node:child_process'],
  'files/sync.ts': ['../process/spawn.ts'],
  sandbox: ['../core/ports.ts', 'node:fs/promises'],
  settings: ['yaml', 'zod', 'node:fs'],
  actions: ['../core/task.ts', './look.ts'],
  protocol: ['zod', './task.ts', '../actions/index.ts'],
  'protocol/schemas': ['zod', '../../core/task.ts', '../../actions/index.ts'],
  api: ['../core/task.ts', '../actions/index.ts'],
  client: ['../protocol/task.ts'],
  cli: ['../actions/index.ts', '../client/socket.ts', '../api/call.ts'],
  'cli/detach.ts': ['../process/spawn.ts'],
  'cli/pager.ts': ['../process/spawn.ts'],
  'cli/commands/demo.ts': ['../../process/spawn.ts'],
  'cli/main.ts': ['../compose.ts', './parse.ts'],
  'compose.ts': ['./store/sqlite.ts', './mcp/stdio.ts'],
  'index.ts': ['./compose.ts', './core/task.ts'],
}

const reexport = (imported: string) => `export * from '${imported}'`

/** The crossings the linter finds when every room holds its imports, one to a line. */
function crossingsOf(imports: Imports, statement = reexport) {
  const field = mkdtempSync(path.join(tmpdir(), 'offshoot-boundaries-'))
  for (const name of ['oxlint.config.ts', 'tsconfig.json', 'package.json']) {
    cpSync(path.join(root, name), path.join(field, name))
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(field, 'node_modules'))
  for (const [from, imported] of Object.entries(imports)) {
    const file = path.join(field, plantedIn(from))
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, imported.map((name) => `${statement(name)}\n`).join(''))
  }
  try {
    return crossings(field)
  } finally {
    rmSync(field, { recursive: true })
  }
}

const plantedIn = (from: string) => (from.endsWith('.ts') ? `src/${from}` : `src/${from}/planted.ts`)

interface Report {
  diagnostics: { code: string; filename: string; labels: { span: { line: number } }[] }[]
  number_of_files: number
}

function crossings(folder: string) {
  const oxlint = path.join(root, 'node_modules/.bin/oxlint')
  const run = spawnSync(process.execPath, [oxlint, '--format', 'json', 'src'], {
    cwd: folder,
    encoding: 'utf8',
  })
  if (!run.stdout.startsWith('{')) throw new Error(`oxlint broke (${run.status}): ${run.stdout}${run.stderr}`)
  const { diagnostics, number_of_files }: Report = JSON.parse(run.stdout)
  const places = diagnostics
    .filter(({ code }) => /no-restricted-imports|no-cycle/.test(code))
    .map(({ filename, labels }) => `${filename}:${labels[0]?.span.line}`)
  return { places, number_of_files, status: run.status }
}

describe('the direction of imports', () => {
  const found = crossingsOf(forbidden)
  const cases = Object.entries(forbidden).flatMap(([from, imported]) =>
    imported.map((name, index) => ({ from, name, place: `${plantedIn(from)}:${index + 1}` })),
  )

  test.each(cases)('$from may not import $name', ({ place }) => {
    expect(found.places).toContain(place)
    expect(found.status).toBe(1)
  })

  test('what a room may import is left alone', () => {
    expect(crossingsOf(allowed)).toEqual({
      places: [],
      number_of_files: Object.keys(allowed).length,
      status: 0,
    })
  })

  test.each([
    ['a type import', (name: string) => `import type { A } from '${name}'; export type B = A`],
    ['a lazy import', (name: string) => `export const load = () => import('${name}')`],
    ['an import for its effect', (name: string) => `import '${name}'`],
  ])('%s crosses a boundary too', (_, statement) => {
    expect(crossingsOf({ core: ['../git/exec.ts'] }, statement).places).toEqual(['src/core/planted.ts:1'])
  })

  test('protocol may import the types of core, and the command line and the library those of protocol', () => {
    const statement = (name: string) => `import type { A } from '${name}'; export type B = A`
    const types = {
      protocol: ['../core/task.ts'],
      api: ['../protocol/events.ts'],
      cli: ['../protocol/events.ts'],
      'cli/main.ts': ['../protocol/events.ts'],
      'index.ts': ['./protocol/events.ts'],
    }
    expect(crossingsOf(types, statement).places).toEqual([])
  })

  test('the sources keep to it', () => {
    const found = crossings(root)
    expect(found.places).toEqual([])
    expect(found.number_of_files).toBeGreaterThan(0)
  })

  test('every folder of the sources has a row in the table', () => {
    const folders = readdirSync(path.join(root, 'src'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
    const outside = crossingsOf(
      Object.fromEntries(folders.map((room) => [room, ['../nowhere/x.ts', '../index.ts']])),
    )
    expect(outside.places).toEqual(expect.arrayContaining(folders.map((room) => `src/${room}/planted.ts:2`)))
  })
})
