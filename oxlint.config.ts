import { builtinModules } from 'node:module'
import { defineConfig, type OxlintOverride } from 'oxlint'
import manifest from './package.json' with { type: 'json' }

/** What one folder of src/ may import, besides itself. Packages and guarded modules are denied unless named. */
interface Folder {
  /** Folders of src/; `core` is all of core, `core/model` one folder of it. */
  from: string[]
  /** Folders of which only types may be imported. */
  types?: string[]
  packages?: string[]
  /** The only node: modules allowed; left out, all but the guarded ones are. */
  builtins?: string[]
  guarded?: Guarded[]
  /** Its files may not import one another. */
  apart?: true
}

type Guarded = 'child_process' | 'sqlite'
const guardedModules: Guarded[] = ['child_process', 'sqlite']
const allModules = builtinModules.map((name) => name.replace('node:', ''))
const allPackages = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })

/** The folders of core, in the order of their imports: each may import those before it. */
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
/** What an adapter, or a door, sees of core. */
const seen = ['core/model', 'core/ports', 'core/base']
/** All of core but the verbs, which only the api imports. */
const below = core.filter((name) => name !== 'verbs').map((name) => `core/${name}`)
const pure = ['buffer', 'crypto', 'path']

const folders: Record<string, Folder> = {
  ...Object.fromEntries(
    core.map((name, at) => [
      `core/${name}`,
      { from: core.slice(0, at).map((above) => `core/${above}`), builtins: pure },
    ]),
  ),
  // What two verbs need is in the folder of its subject.
  'core/verbs': { from: below, builtins: pure, apart: true },

  git: { from: [...seen, 'process'] },
  isolation: { from: [...seen, 'git'] },
  vault: { from: [...seen, 'git'] },
  checkout: { from: [...seen, 'git'] },
  store: { from: seen, guarded: ['sqlite'] },
  lock: { from: [...seen, 'files'], guarded: ['sqlite'] },
  files: { from: seen },
  process: { from: [...seen, 'files'] },
  agents: { from: seen, packages: ['@agentclientprotocol/sdk'] },
  sandbox: { from: seen },
  settings: { from: seen, packages: ['smol-toml', 'yaml', 'zod'] },

  // No schemas here: the command line loads the table with every command.
  actions: { from: ['core/model'], builtins: [] },
  protocol: { from: ['actions', 'core/model'], packages: ['zod'], builtins: [] },
  api: { from: ['actions', 'core'], types: ['protocol'] },
  cli: { from: ['actions', 'api', 'client', ...seen], types: ['protocol'] },
  client: { from: ['actions', ...seen], types: ['protocol'] },
  daemon: { from: ['actions', 'api', 'client', 'mcp', 'protocol', ...seen], packages: ['pino', 'ws'] },
  mcp: {
    from: ['actions', 'api', 'protocol', ...seen],
    packages: ['@modelcontextprotocol/server', 'zod'],
  },
  acp: { from: ['api', ...seen], types: ['protocol'], packages: ['@agentclientprotocol/sdk'] },
  compose: { from: [...below, ...adapters()] },
  // It checks inputs by their schemas, so it loads the protocol, with the first call.
  library: { from: ['actions', 'api', 'protocol', ...below], types: ['compose'] },
}

function adapters(): string[] {
  return [
    'agents',
    'checkout',
    'files',
    'git',
    'isolation',
    'lock',
    'process',
    'sandbox',
    'settings',
    'store',
    'vault',
  ]
}

/** Files that may do more than their folder. `index` stands for the file in src/ itself. */
const files: Record<string, Folder> = {
  // A pattern becomes a function: pure, so no port is needed.
  'core/base/glob.ts': { from: ['core/model'], packages: ['picomatch'], builtins: [] },
  // A shell line becomes a tree: pure as well.
  'core/base/shell.ts': { from: ['core/model'], packages: ['unbash'], builtins: [] },
  // The one file that starts processes.
  'process/spawn.ts': { from: [], guarded: ['child_process'] },
  // One call for all files of a file system; Node has none.
  'files/sync.ts': { from: ['process'] },
  'cli/display-width.ts': { from: [], packages: ['get-east-asian-width'], builtins: [] },
  'cli/browser.ts': { from: [...seen, 'process'] },
  // The page has these, too.
  'client/socket.ts': { from: ['actions'], types: ['protocol'], builtins: [] },
  'client/seen.ts': { from: [], types: ['protocol'], builtins: [] },
  'client/daemon-socket.ts': { from: seen, packages: ['ws'] },
  // It chooses the adapters of the daemon, as main.ts does for every other command.
  'cli/commands/serve.ts': { from: ['cli', 'client', 'compose', 'daemon', ...seen] },
  'cli/commands/daemon.ts': { from: ['cli', 'client', 'compose', ...seen], types: ['protocol'] },
  'cli/commands/mcp.ts': { from: ['actions', 'api', 'cli', 'mcp', ...seen] },
  // What the command prints, it prints in the daemon, too.
  'cli/served.ts': { from: ['actions', 'api', 'cli', 'client', ...seen], types: ['daemon', 'protocol'] },
  'cli/commands/acp.ts': { from: ['acp', 'api', 'cli', ...seen] },
  'cli/pager.ts': { from: ['process'] },
  'cli/editor.ts': { from: [...seen, 'process'] },
  // The demo plays a user at a shell.
  'cli/commands/demo.ts': { from: ['cli', ...seen, 'process'] },
  'cli/main.ts': { from: ['actions', 'api', 'cli', 'compose', ...seen], types: ['protocol'] },
  'index.ts': { from: ['compose', 'library', ...below], types: ['api', 'protocol'] },
}

const either = (names: string[]) => `(?:${names.join('|')})`
const without = (all: string[], some: string[]) => all.filter((name) => !some.includes(name))
const top = (name: string) => name.split(/[/.]/)[0]!
const allTop = [...new Set(Object.keys(folders).map(top)), 'index']

// The linter's regular expressions know no lookahead: each list names what is denied.
function boundary(name: string, { from, types = [], packages = [], builtins, guarded = [], apart }: Folder) {
  const own = top(name)
  const others = without(allTop, [own, ...from.map(top), ...types])
  const modules = builtins ? without(allModules, builtins) : without(guardedModules, guarded)
  // From src/ itself a folder begins with `./`; elsewhere that is a folder of one's own.
  const up = name === `${own}.ts` ? '\\./' : '(?:\\.\\./)+'
  const into = (names: string[]) => `^${up}(?:src/)?${either(names)}(?:/|\\.ts$)`
  const deny = (regex: string, more = {}) => ({
    regex,
    message: `Not from src/${name}: see the table in oxlint.config.ts.`,
    ...more,
  })
  const inCore = from.filter((folder) => folder.startsWith('core/')).map((folder) => folder.slice(5))
  const hidden = from.includes('core')
    ? []
    : without(core, [...inCore, apart ? '' : (name.split('/')[1] ?? '')])
  // A folder of core sees its neighbours beside it, all others by way of `core/`.
  const wayIn = own === 'core' ? '(?:core/)?' : 'core/'
  const patterns = [
    deny(into(others)),
    ...(hidden.length > 0 ? [deny(`^${up}(?:src/)?${wayIn}${either(hidden)}/`)] : []),
    ...(apart ? [deny('^\\./')] : []),
    ...types.map((folder) => deny(into([folder]), { allowTypeImports: true })),
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
    // Its tests are made of scenarios (test/support/hints/try-hints.ts).
    { files: ['test/hints/**'], rules: { 'vitest/no-standalone-expect': 'off' } },
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
    ...Object.entries({ ...folders, ...files }).map(([name, folder]) => boundary(name, folder)),
  ],
})
