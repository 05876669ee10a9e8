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

/** The state folder; src/compose/state-folder.ts knows it, too. */
function stateFolder({ OFFSHOOT_HOME, XDG_STATE_HOME, HOME }) {
  const { join } = process.getBuiltinModule('path')
  return OFFSHOOT_HOME || join(XDG_STATE_HOME || join(HOME || '', '.local', 'state'), 'offshoot')
}

/**
 * Keeps compiled code in the state folder (docs/adr/0030-own-ground.md). It runs as our own, so a folder that others could
 * have written is not read: without a folder of ours, Node would take one in the folder for temporary files. A command
 * works without it, only slower.
 */
function keepCompiled(home) {
  const { isAbsolute, join } = process.getBuiltinModule('path')
  const folder = join(home, 'compiled')
  try {
    if (isAbsolute(home) && isOurs(folder)) process.getBuiltinModule('module').enableCompileCache(folder)
  } catch {
    // The state folder is not usable; the command says so when it needs it.
  }
}

/**
 * Whether a folder is ours alone, and nobody else can put another into its place. Stricter than src/files/own-ground.ts,
 * which also follows links and knows groups: that would take longer to load than it saves.
 */
function isOurs(folder) {
  const { lstatSync } = process.getBuiltinModule('fs')
  const { dirname } = process.getBuiltinModule('path')
  const us = process.geteuid && process.geteuid()
  const own = lstatSync(folder, { throwIfNoEntry: false })
  if (own === undefined || !own.isDirectory() || own.uid !== us || (own.mode & 0o077) !== 0) return false
  for (let at = folder; at !== dirname(at); at = dirname(at)) {
    const above = lstatSync(dirname(at))
    if (!above.isDirectory() || (above.uid !== us && above.uid !== 0)) return false
    if ((above.mode & 0o022) !== 0 && (above.mode & 0o1000) === 0) return false
  }
  return true
}

/** Listens to the Node that handed over to us, on the pipe that it opened: a byte for each signal, and the end when it dies. */
function listenTo(descriptor) {
  const { Socket } = process.getBuiltinModule('net')
  return (onSignal, onGone) => {
    const line = new Socket({ fd: descriptor, readable: true })
    line.on('data', (bytes) => bytes.forEach(onSignal))
    line.on('error', () => {})
    line.on('close', onGone)
    line.unref()
  }
}

function run() {
  const listen = process.env.OFFSHOOT_HANDED_OVER === '3' ? listenTo(3) : undefined
  delete process.env.OFFSHOOT_HANDED_OVER
  const home = stateFolder(process.env)
  const argv = process.argv.slice(2)
  return playByDaemon(argv, home, listen)
    .then((code) => (code === undefined ? playHere(argv, home, listen) : code))
    .then((code) => {
      if (typeof code === 'number') process.exitCode = code
    })
}

/** Answers undefined where no daemon runs, or where it leaves the line to us (docs/adr/0067-a-command-line-played-by-the-daemon.md). */
function playByDaemon(argv, home, listen) {
  const { existsSync } = process.getBuiltinModule('fs')
  const { isAbsolute, join } = process.getBuiltinModule('path')
  const built = new URL('../dist/cli/by-daemon.js', import.meta.url)
  if (!isAbsolute(home) || !existsSync(join(home, 'daemon.json')) || !existsSync(built))
    return Promise.resolve()
  return import(built.href).then((client) => client.playByDaemon(argv, { home, isOurs }, listen))
}

function playHere(argv, home, listen) {
  silenceSqliteWarning()
  keepCompiled(home)
  const built = new URL('../dist/cli/main.js', import.meta.url)
  const source = new URL('../src/cli/main.ts', import.meta.url)
  const { existsSync } = process.getBuiltinModule('fs')
  return import((existsSync(built) ? built : source).href).then((cli) => cli.main(argv, listen))
}

if (Number(process.version.replace('v', '').split('.')[0]) >= needed) void run()
else void import('./hand-over.js').then(({ handOver }) => handOver(needed))
