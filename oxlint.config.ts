import { builtinModules } from 'node:module'
import { defineConfig, type OxlintOverride } from 'oxlint'
import manifest from './package.json' with { type: 'json' }

/** What one room of src/ may import, besides itself. Packages and guarded modules are denied unless named. */
interface Room {
  from: string[]
  /** Rooms of which only types may be imported. */
  types?: string[]
  packages?: string[]
  /** The only node: modules allowed; left out, all but the guarded ones are. */
  builtins?: string[]
  guarded?: Guarded[]
}

type Guarded = 'child_process' | 'sqlite'
const guardedModules: Guarded[] = ['child_process', 'sqlite']
const allModules = builtinModules.map((name) => name.replace('node:', ''))
const allPackages = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })

const rooms: Record<string, Room> = {
  core: { from: [], builtins: ['buffer', 'crypto', 'path'] },

  git: { from: ['core'] },
  vault: { from: ['core', 'git'] },
  land: { from: ['core', 'git'] },
  store: { from: ['core'], guarded: ['sqlite'] },
  lock: { from: ['core'], guarded: ['sqlite'] },
  files: { from: ['core'] },
  process: { from: ['core', 'files'], guarded: ['child_process'] },
  agents: { from: ['core'], packages: ['@agentclientprotocol/sdk'] },
  sandbox: { from: ['core'] },
  settings: { from: ['core'], packages: ['smol-toml', 'yaml', 'zod'] },

  protocol: { from: [], types: ['core'], packages: ['zod'], builtins: [] },
  api: { from: ['core', 'protocol'] },
  client: { from: ['protocol'] },
  cli: { from: ['api', 'client', 'core', 'protocol'] },
  mcp: { from: ['api', 'client', 'core', 'protocol'] },
  daemon: { from: ['api', 'client', 'core', 'protocol'] },
}

/** Files that may do more than their room. `compose`, `compose-records` and `index` stand for the files in src/ itself. */
const files: Record<string, Room> = {
  // A pattern becomes a function: pure, so no port is needed.
  'core/base/glob.ts': { from: [], packages: ['picomatch'], builtins: [] },
  'git/exec.ts': { from: ['core', 'git'], guarded: ['child_process'] },
  // One call for all files of a file system; Node has none.
  'files/sync.ts': { from: [], guarded: ['child_process'] },
  'cli/detach.ts': { from: ['cli', 'core'], guarded: ['child_process'] },
  'cli/pager.ts': { from: [], guarded: ['child_process'] },
  // The demo plays a user at a shell.
  'cli/commands/demo.ts': { from: ['cli', 'core'], guarded: ['child_process'] },
  // The enums of the wire are those of the domain.
  'protocol/actions.ts': { from: ['core'], packages: ['zod'], builtins: [] },
  'cli/main.ts': { from: ['api', 'cli', 'client', 'compose', 'compose-records', 'core', 'protocol'] },
  'compose.ts': { from: [...Object.keys(rooms), 'compose-records'] },
  'compose-records.ts': { from: Object.keys(rooms) },
  'index.ts': { from: ['api', 'compose', 'core', 'protocol'] },
}

const either = (names: string[]) => `(?:${names.join('|')})`
const without = (all: string[], some: string[]) => all.filter((name) => !some.includes(name))

// The linter's regular expressions know no lookahead: each list names what is denied.
function boundary(name: string, { from, types = [], packages = [], builtins, guarded = [] }: Room) {
  const own = name.split(/[/.]/)[0]!
  const others = without(
    [...Object.keys(rooms), 'compose', 'compose-records', 'index'],
    [own, ...from, ...types],
  )
  const modules = builtins ? without(allModules, builtins) : without(guardedModules, guarded)
  // From src/ itself a room begins with `./`; elsewhere that is a folder of one's own.
  const up = name === `${own}.ts` ? '\\./' : '(?:\\.\\./)+'
  const into = (names: string[]) => `^${up}(?:src/)?${either(names)}(?:/|\\.ts$)`
  const deny = (regex: string, more = {}) => ({
    regex,
    message: `Not from src/${name}: see the table in oxlint.config.ts.`,
    ...more,
  })
  const patterns = [
    deny(into(others)),
    ...types.map((room) => deny(into([room]), { allowTypeImports: true })),
    deny(`^${either(without(allPackages, packages))}(?:/|$)`),
    deny(`^(?:node:)?${either(modules)}$`),
    deny('^(?:\\.\\./)+(?:test|bench|dist|web)/'),
  ]
  return {
    files: [name.endsWith('.ts') ? `src/${name}` : `src/${name}/**`],
    excludeFiles: ['src/**/*.test.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns }] },
  } satisfies OxlintOverride
}

export default defineConfig({
  plugins: ['import', 'oxc', 'promise', 'typescript', 'unicorn', 'vitest'],
  options: { typeAware: true },
  categories: { correctness: 'error' },
  ignorePatterns: ['dist', 'coverage'],
  rules: {
    eqeqeq: 'error',
    'import/no-cycle': 'error',
    'import/no-self-import': 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'typescript/await-thenable': 'error',
    'typescript/consistent-type-imports': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'unicorn/prefer-node-protocol': 'error',
    // Ports and handles are records of functions that know no `this`.
    'typescript/unbound-method': 'off',
    // Tables of cases branch on what a row expects, and call helpers that expect.
    'vitest/no-conditional-expect': 'off',
    'vitest/expect-expect': 'off',
    // An expectation may be set up before what it waits for happens, and awaited after.
    'vitest/valid-expect': 'off',
  },
  overrides: [
    { files: ['bin/**'], rules: { 'unicorn/prefer-node-protocol': 'off' } },
    { files: ['src/**'], rules: { 'import/no-default-export': 'error' } },
    { files: ['src/**'], excludeFiles: ['src/cli/**'], rules: { 'no-console': 'error' } },
    {
      files: ['src/**/*.test.ts', 'test/**'],
      excludeFiles: ['test/support/random.ts'],
      rules: {
        'no-restricted-imports': [
          'error',
          { name: 'fast-check', message: 'test/support/random.ts has it, with the seed of the run.' },
        ],
      },
    },
    ...Object.entries({ ...rooms, ...files }).map(([name, room]) => boundary(name, room)),
  ],
})
