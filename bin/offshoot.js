#!/usr/bin/env node
// Runs on any Node from 12 on, only to hand over to one that is new enough: keep to syntax and modules of that age.
import { spawn } from 'child_process'
import { existsSync } from 'fs'
import module from 'module'
import path from 'path'
import { isatty } from 'tty'
import { fileURLToPath } from 'url'

const needed = 24
const handedOver = 'OFFSHOOT_HANDED_OVER'

function major(version) {
  return Number(version.replace('v', '').split('.')[0])
}

/** The `node` package that was installed along with this one, if it is new enough. */
function findPinnedNode() {
  const require = module.createRequire(import.meta.url)
  try {
    const manifest = require.resolve('node/package.json')
    const binary = path.join(path.dirname(manifest), 'bin', 'node')
    return major(require(manifest).version) >= needed && existsSync(binary) ? binary : undefined
  } catch {
    return undefined
  }
}

function handOver(binary) {
  const child = spawn(binary, process.argv.slice(1), {
    stdio: 'inherit',
    env: Object.assign({}, process.env, { [handedOver]: '1' }),
  })
  const forward = {}
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    forward[signal] = () => {
      // A terminal sends Ctrl-C to the child too, and a second one would mean "now, without cleaning up".
      if (signal !== 'SIGINT' || !isatty(0)) child.kill(signal)
    }
    process.on(signal, forward[signal])
  }
  child.on('error', refuse)
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code)
    if (forward[signal]) process.removeListener(signal, forward[signal])
    process.kill(process.pid, signal)
  })
}

function refuse() {
  console.error(
    `offshoot needs Node ${needed} or newer; this is ${process.version}. Install it (https://nodejs.org) or run with: npx -p node@${needed} -p offshoot offshoot …`,
  )
  process.exit(6)
}

/** Early releases of Node 24 call SQLite experimental; every other warning stays. */
function silenceSqliteWarning() {
  const emitWarning = process.emitWarning
  process.emitWarning = function (warning, ...rest) {
    if (String(warning).startsWith('SQLite is an experimental')) return
    emitWarning.call(process, warning, ...rest)
  }
}

function run() {
  delete process.env[handedOver]
  silenceSqliteWarning()
  module.enableCompileCache()
  const built = new URL('../dist/cli/main.js', import.meta.url)
  const source = new URL('../src/cli/main.ts', import.meta.url)
  return import((existsSync(fileURLToPath(built)) ? built : source).href)
    .then((cli) => cli.main(process.argv.slice(2)))
    .then((code) => {
      if (typeof code === 'number') process.exitCode = code
    })
}

if (major(process.version) >= needed) {
  void run()
} else {
  const pinned = process.env[handedOver] ? undefined : findPinnedNode()
  if (pinned) handOver(pinned)
  else refuse()
}
