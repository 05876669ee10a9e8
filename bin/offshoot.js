#!/usr/bin/env node
/** The `offshoot` command. Any Node from 12 on can run this file, which hands over to a newer one: keep to syntax of Node 12. It loads only what it needs, because it runs before every command. */
const needed = 24

/** Early releases of Node 24 call SQLite experimental; every other warning stays. */
function silenceSqliteWarning() {
  const emitWarning = process.emitWarning
  process.emitWarning = function (warning, ...rest) {
    if (String(warning).startsWith('SQLite is an experimental')) return
    emitWarning.call(process, warning, ...rest)
  }
}

function run() {
  delete process.env.OFFSHOOT_HANDED_OVER
  silenceSqliteWarning()
  process.getBuiltinModule('module').enableCompileCache()
  const built = new URL('../dist/cli/main.js', import.meta.url)
  const source = new URL('../src/cli/main.ts', import.meta.url)
  return import((process.getBuiltinModule('fs').existsSync(built) ? built : source).href)
    .then((cli) => cli.main(process.argv.slice(2)))
    .then((code) => {
      if (typeof code === 'number') process.exitCode = code
    })
}

if (Number(process.version.replace('v', '').split('.')[0]) >= needed) void run()
else void import('./hand-over.js').then(({ handOver }) => handOver(needed))
