/** Hands the command over to a newer Node when this one is too old. Keep to syntax and modules of Node 12 (docs/adr/0001-node-24-pinned-types-stripped.md). */
import { spawn } from 'child_process'
import { existsSync } from 'fs'
import module from 'module'
import path from 'path'

/** Runs the command with the `node` package that was installed beside this one, if that is new enough; else prints how to get one. */
export function handOver(needed) {
  const pinned = process.env.OFFSHOOT_HANDED_OVER ? undefined : findPinnedNode(needed)
  if (!pinned) return refuse(needed)
  // Signals go through a pipe, so that the child can tell them from those that a terminal sends to both of us. If we are
  // killed, the pipe closes, and the child ends as if its terminal had gone (bin/offshoot.js listens).
  const child = spawn(pinned, process.argv.slice(1), {
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    env: Object.assign({}, process.env, { OFFSHOOT_HANDED_OVER: '3' }),
  })
  const line = child.stdio[3]
  // The child has ended, and its exit code follows.
  if (line) line.on('error', () => {})
  const forward = {}
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    forward[signal] = () => void (line && line.write('.'))
    process.on(signal, forward[signal])
  }
  child.on('error', () => refuse(needed))
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code)
    if (forward[signal]) process.removeListener(signal, forward[signal])
    process.kill(process.pid, signal)
  })
}

function findPinnedNode(needed) {
  const require = module.createRequire(import.meta.url)
  try {
    const manifest = require.resolve('node/package.json')
    const binary = path.join(path.dirname(manifest), 'bin', 'node')
    const major = Number(require(manifest).version.split('.')[0])
    return major >= needed && existsSync(binary) ? binary : undefined
  } catch {
    return undefined
  }
}

function refuse(needed) {
  console.error(
    `offshoot needs Node ${needed} or newer; this is ${process.version}. Install it (https://nodejs.org) or run with: npx -p node@${needed} -p offshoot offshoot …`,
  )
  process.exit(6)
}
