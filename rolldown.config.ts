import { defineConfig, type Plugin } from 'rolldown'

/** Taking one function of it loads the whole of it, and most commands never call one. */
const heavy = new Set(['node:crypto', 'node:http'])

/**
 * An `import` of a module of Node's loads all that it can offer: for `node:util` that is workers, for `node:fs` promises and
 * readline. Asked for by a call, it loads what is taken from it.
 */
const lazyBuiltins: Plugin = {
  name: 'lazy-builtins',
  renderChunk: (code) =>
    code.replace(
      /^import (?:(\w+)(?:, )?)?(?:\{ (.*?) \})? from "(node:[\w/]+)";$/gm,
      (_, whole, parts, from) => {
        // By its whole name: a package may import `process` itself, under that name.
        const taken = `globalThis.process.getBuiltinModule("${from}")`
        const names: string[] = parts?.split(', ') ?? []
        const pairs = names.map((name) => name.split(' as '))
        const lines = heavy.has(from)
          ? pairs.map(([name, as = name]) => `const ${as} = (...args) => ${taken}.${name}(...args);`)
          : pairs.length > 0
            ? [`const { ${pairs.map((pair) => pair.join(': ')).join(', ')} } = ${taken};`]
            : []
        return [...(whole ? [`const ${whole} = ${taken};`] : []), ...lines].join('\n')
      },
    ),
}

const shims = '@modelcontextprotocol/server/_shims'

/**
 * The MCP SDK brings a validator of JSON Schema, a third of its code, for answers of people that a server asks; ours asks
 * none. Should the SDK name that file differently one day, the validator is in the bundle again, and nothing else changes.
 */
const withoutValidator: Plugin = {
  name: 'without-validator',
  resolveId: (id) => (id === shims ? `\0${shims}` : undefined),
  load: (id) =>
    id === `\0${shims}`
      ? `export { default as process } from 'node:process'
         export class DefaultJsonSchemaValidator {
           getValidator() { throw new Error('There is no validator of JSON Schema in this build.') }
         }`
      : undefined,
}

/** Few files instead of many: a command spends most of its time on finding and reading its modules. */
const whole = defineConfig({
  input: { index: 'src/index.ts', 'cli/main': 'src/cli/main.ts' },
  platform: 'node',
  plugins: [withoutValidator, lazyBuiltins],
  output: {
    dir: 'dist',
    format: 'esm',
    chunkFileNames: 'chunks/[name]-[hash].js',
    // What every command needs and `list` does is one file, and what `start` needs beside it another.
    codeSplitting: {
      groups: [
        {
          name: 'front',
          test: /src\/(cli\/(main|play|commands\/list)|core\/verbs\/(list|notices))\.ts$/,
          priority: 1,
        },
        {
          name: 'start',
          test: /src\/(compose\/full|cli\/commands\/start|core\/(closing\/auto-revert|hooks\/peer-notice|verbs\/start))\.ts$/,
        },
      ],
    },
  },
})

/** Bundled apart, so that it shares no file with the rest, of which it needs little. */
const byDaemon = defineConfig({
  input: { 'cli/by-daemon': 'src/cli/by-daemon.ts' },
  platform: 'node',
  plugins: [lazyBuiltins],
  output: { dir: 'dist', format: 'esm', chunkFileNames: 'chunks/by-daemon-[name]-[hash].js' },
})

export default [whole, byDaemon]
