import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')

/** A folder, or a file of src/, and what it imports. */
type Imports = Record<string, string[]>

/** The folders of core, in the order of their imports. */
const core = [
  'model',
  'ports',
  'base',
  'tasks',
  'tokens',
  'workspaces',
  'steps',
  'operations',
  'landing',
  'hooks',
  'closing',
  'starting',
  'runs',
  'trash',
  'recovery',
  'verbs',
]
const outside = [
  '../../git/exec.ts',
  '../../compose/full.ts',
  '../../index.ts',
  'picomatch',
  'unbash',
  'zod',
  'node:fs',
  'node:fs/promises',
  'node:child_process',
  'node:process',
  'node:sqlite',
  '../../../test/support/repo.ts',
  '../../../bench/run.ts',
]

const forbidden: Imports = {
  ...Object.fromEntries(
    core.map((name, at) => [
      `core/${name}`,
      [...core.slice(at + 1).map((below) => `../${below}/planted.ts`), ...outside],
    ]),
  ),
  'core/verbs': ['./start.ts', '../verbs/start.ts', ...outside],
  git: ['../vault/place.ts', '../isolation/clone.ts', '../core/tasks/find.ts', 'node:child_process'],
  isolation: ['../vault/place.ts', '../core/workspaces/make.ts'],
  vault: ['../store/sqlite.ts', '../isolation/clone.ts', '../core/steps/take.ts', 'node:sqlite'],
  'vault/capture': ['../../core/steps/take.ts', '../../store/sqlite.ts'],
  checkout: ['../vault/place.ts', '../core/operations/files.ts'],
  store: ['../git/exec.ts', '../core/tasks/records.ts', 'node:child_process'],
  lock: ['../store/sqlite.ts', '../core/tasks/hold.ts'],
  files: ['../process/spawn.ts', '../core/trash/expire.ts', 'node:child_process'],
  'files/sync.ts': ['node:child_process'],
  process: ['../git/exec.ts', '../core/runs/run.ts', 'node:child_process'],
  'process/spawn.ts': ['../git/exec.ts', '../files/make-folders.ts'],
  agents: ['../sandbox/none.ts', '../core/runs/loop.ts', 'node:child_process'],
  sandbox: ['../git/exec.ts', '../process/spawn.ts', '../core/runs/run.ts', 'node:child_process'],
  settings: ['../files/copy.ts', '../core/hooks/trust.ts'],
  actions: ['../protocol/parse.ts', '../api/call.ts', '../core/verbs/list.ts', 'zod', 'node:path'],
  protocol: ['../core/verbs/list.ts', '../api/call.ts', 'node:path'],
  'protocol/schemas': ['../../core/tasks/find.ts', '../../api/call.ts', 'node:path'],
  api: ['../store/sqlite.ts', '../protocol/parse.ts'],
  cli: [
    '../git/exec.ts',
    '../process/spawn.ts',
    '../compose/full.ts',
    '../protocol/parse.ts',
    '../core/verbs/list.ts',
    'node:child_process',
    'get-east-asian-width',
    '../mcp/index.ts',
    '../acp/index.ts',
    'yaml',
    'zod',
  ],
  'cli/commands': [
    '../../compose/full.ts',
    '../../daemon/main.ts',
    '../../process/spawn.ts',
    '../../core/tasks/find.ts',
  ],
  client: ['../daemon/main.ts', '../api/call.ts', '../protocol/parse.ts', '../core/tasks/find.ts', 'zod'],
  daemon: [
    '../cli/main.ts',
    '../compose/full.ts',
    '../files/node.ts',
    '../process/spawn.ts',
    '../core/tokens/tokens.ts',
    '../core/verbs/list.ts',
    'node:child_process',
    'node:sqlite',
    'zod',
  ],
  'cli/commands/serve.ts': ['../../core/verbs/list.ts', '../../process/spawn.ts', 'pino'],
  'cli/commands/daemon.ts': ['../../daemon/main.ts', '../../process/spawn.ts'],
  'cli/browser.ts': ['node:child_process', '../compose/full.ts'],
  'cli/pager.ts': ['node:child_process', '../core/model/task.ts'],
  'cli/editor.ts': ['node:child_process', '../compose/full.ts'],
  'cli/commands/demo.ts': ['node:child_process'],
  'cli/main.ts': ['../git/exec.ts', '../protocol/parse.ts'],
  mcp: [
    '../git/exec.ts',
    '../compose/full.ts',
    '../cli/main.ts',
    '../core/verbs/list.ts',
    '../core/tasks/find.ts',
    '@modelcontextprotocol/client',
    'node:child_process',
    'yaml',
  ],
  'cli/commands/mcp.ts': ['../../compose/full.ts', '../../protocol/parse.ts', '@modelcontextprotocol/server'],
  acp: [
    '../git/exec.ts',
    '../agents/acp.ts',
    '../compose/full.ts',
    '../cli/main.ts',
    '../protocol/parse.ts',
    '../core/verbs/list.ts',
    '../core/tasks/find.ts',
    'node:child_process',
    'zod',
  ],
  'cli/commands/acp.ts': ['../../compose/full.ts', '../../protocol/parse.ts', '@agentclientprotocol/sdk'],
  library: ['../git/exec.ts', '../cli/main.ts', '../compose/full.ts', '../core/verbs/list.ts', 'zod'],
  'index.ts': ['./git/exec.ts', './cli/main.ts', './protocol/parse.ts', './core/verbs/list.ts'],
  compose: ['node:sqlite', '../cli/main.ts', '../core/verbs/list.ts', '../../test/support/repo.ts'],
}

const allowed: Imports = {
  ...Object.fromEntries(
    core.map((name, at) => [
      `core/${name}`,
      [
        'node:path',
        'node:crypto',
        ...(name === 'verbs' ? [] : ['./other.ts']),
        ...core.slice(0, at).map((above) => `../${above}/x.ts`),
      ],
    ]),
  ),
  'core/base/glob.ts': ['picomatch'],
  'core/base/shell.ts': ['unbash'],
  git: ['../core/model/task.ts', '../process/spawn.ts', 'node:fs/promises'],
  isolation: ['../core/ports/isolation.ts', '../git/exec.ts'],
  vault: ['../git/exec.ts', '../core/base/concurrency.ts', './capture/scan.ts'],
  'vault/capture': ['../../core/model/bytes.ts', '../objects/tree.ts', '../../git/exec.ts'],
  checkout: ['../git/exec.ts'],
  store: ['node:sqlite'],
  lock: ['node:sqlite'],
  process: ['../files/make-folders.ts'],
  'process/spawn.ts': ['node:child_process'],
  'files/sync.ts': ['../process/spawn.ts'],
  sandbox: ['../core/ports/sandbox.ts', 'node:fs/promises'],
  settings: ['yaml', 'zod', 'node:fs'],
  actions: ['../core/model/enums.ts', './look.ts'],
  protocol: ['zod', './task.ts', '../actions/index.ts', '../core/model/enums.ts'],
  'protocol/schemas': ['zod', '../../core/model/enums.ts', '../../actions/index.ts'],
  api: ['../core/verbs/list.ts', '../actions/index.ts'],
  cli: ['../actions/index.ts', '../api/call.ts', '../core/model/errors.ts'],
  'cli/display-width.ts': ['get-east-asian-width'],
  client: ['../actions/index.ts', '../core/model/errors.ts', 'node:http'],
  daemon: [
    '../mcp/index.ts',
    '../api/call.ts',
    '../client/proof.ts',
    '../protocol/parse.ts',
    '../core/ports/index.ts',
    'pino',
  ],
  'cli/commands/serve.ts': ['../../compose/daemon.ts', '../../daemon/main.ts', '../command.ts'],
  'cli/commands/daemon.ts': ['../../compose/records.ts', '../../client/daemon.ts'],
  'cli/browser.ts': ['../process/spawn.ts'],
  'cli/pager.ts': ['../process/spawn.ts'],
  'cli/editor.ts': ['../process/spawn.ts'],
  'cli/commands/demo.ts': ['../../process/spawn.ts'],
  'cli/main.ts': ['../compose/full.ts', './parse.ts'],
  compose: ['../store/sqlite.ts', '../core/ports/index.ts'],
  mcp: [
    '../api/call.ts',
    '../protocol/parse.ts',
    '../core/base/printable.ts',
    '@modelcontextprotocol/server/stdio',
    'zod',
  ],
  'cli/commands/mcp.ts': ['../../mcp/index.ts', '../command.ts'],
  acp: ['../api/call.ts', '../core/base/counted.ts', '../core/model/errors.ts', '@agentclientprotocol/sdk'],
  'cli/commands/acp.ts': ['../../acp/index.ts', '../command.ts'],
  library: ['../api/call.ts', '../protocol/parse.ts', '../core/runs/wrap.ts'],
  'index.ts': ['./compose/full.ts', './core/model/task.ts', './library/repo.ts'],
}

const reexport = (imported: string) => `export * from '${imported}'`

/** The crossings the linter finds when every folder holds its imports, one to a line. */
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

  test('what a folder may import is left alone', () => {
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
    expect(crossingsOf({ 'core/tasks': ['../verbs/accept.ts'] }, statement).places).toEqual([
      'src/core/tasks/planted.ts:1',
    ])
  })

  test('the command line and the library may import the types of protocol', () => {
    const statement = (name: string) => `import type { A } from '${name}'; export type B = A`
    const imports = { cli: ['../protocol/parse.ts'], 'index.ts': ['./protocol/parse.ts'] }
    expect(crossingsOf(imports, statement).places).toEqual([])
  })

  // It lints every file; on a machine that is busy that takes minutes.
  test('the sources keep to it', { timeout: 300_000 }, () => {
    const found = crossings(root)
    expect(found.places).toEqual([])
    expect(found.number_of_files).toBeGreaterThan(0)
  })

  test('every folder of the sources has a row in the table', () => {
    const named = (below: string) =>
      readdirSync(path.join(root, 'src', below), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => path.posix.join(below, entry.name))
    const folders = [...named('').filter((name) => name !== 'core'), ...named('core')]
    expect(named('core').toSorted()).toEqual(core.map((name) => `core/${name}`).toSorted())
    const up = (folder: string) => '../'.repeat(folder.split('/').length)
    const outside = crossingsOf(
      Object.fromEntries(folders.map((folder) => [folder, ['../nowhere/x.ts', `${up(folder)}index.ts`]])),
    )
    expect(outside.places).toEqual(
      expect.arrayContaining(folders.map((folder) => `src/${folder}/planted.ts:2`)),
    )
  })
})
