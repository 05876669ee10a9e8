import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')

const pinnedVersion = execFileSync(path.join(root, 'node_modules/node/bin/node'), ['--version'])
  .toString()
  .trim()

/** A Node of the machine that is older than the one pinned here, wherever PATH has it. */
function findOldNode() {
  return (process.env.PATH ?? '')
    .split(path.delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .map((folder) => path.join(folder, 'node'))
    .filter((file) => existsSync(file))
    .map((file) => ({ file, version: execFileSync(file, ['--version']).toString().trim() }))
    .find(({ version }) => Number.parseInt(version.slice(1), 10) < 24)
}

const oldNode = findOldNode()
if (!oldNode) console.log('skipped: there is no Node older than 24 on PATH')

/** An installed offshoot whose command line is only `main`, with or without a pinned Node beside it. */
function install({ main, pinned = true }: { main: string; pinned?: boolean }) {
  const home = mkdtempSync(path.join(tmpdir(), 'offshoot-bin-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  cpSync(path.join(root, 'bin'), path.join(home, 'bin'), { recursive: true })
  mkdirSync(path.join(home, 'dist/cli'), { recursive: true })
  writeFileSync(path.join(home, 'package.json'), '{ "type": "module" }')
  writeFileSync(path.join(home, 'dist/cli/main.js'), `export async function main(args) { ${main} }`)
  if (pinned) {
    mkdirSync(path.join(home, 'node_modules'))
    symlinkSync(path.join(root, 'node_modules/node'), path.join(home, 'node_modules/node'))
  }
  return path.join(home, 'bin/offshoot.js')
}

const run = (node: string, args: string[], env = {}) =>
  spawnSync(node, args, { encoding: 'utf8', env: { ...process.env, ...env } })

describe.skipIf(!oldNode)('on a Node that is too old', () => {
  const { file: node, version } = oldNode ?? { file: 'none', version: 'none' }

  test('the command runs on the pinned Node with the same arguments and its exit code', () => {
    const bin = install({ main: `console.log(process.version, JSON.stringify(args)); return 3` })
    const { stdout, stderr, status } = run(node, [bin, 'start', 'two words', '--', '-x'])
    expect({ stdout, stderr, status }).toEqual({
      stdout: `${pinnedVersion} ["start","two words","--","-x"]\n`,
      stderr: '',
      status: 3,
    })
  })

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s reaches the command', async (signal) => {
    const bin = install({
      main: `
        const alive = setInterval(() => {}, 1000)
        process.on('${signal}', () => { console.log('got ${signal}'); clearInterval(alive); process.exitCode = 7 })
        console.log('ready')`,
    })
    const child = spawn(node, [bin], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.on('data', (data) => {
      said += data
      if (said === 'ready\n') child.kill(signal)
    })
    expect(await once(child, 'close')).toEqual([7, null])
    expect(said).toBe(`ready\ngot ${signal}\n`)
  })

  test.each(['SIGTERM', 'SIGKILL'])('a command that dies of %s is reported as such', (signal) => {
    const bin = install({ main: `process.kill(process.pid, '${signal}'); setInterval(() => {}, 1000)` })
    expect(run(node, [bin]).signal).toBe(signal)
  })

  test('without a pinned Node it says so in one line and exits with 6', () => {
    const bin = install({ main: 'return 0', pinned: false })
    expect(run(node, [bin, 'list'])).toMatchObject({
      stdout: '',
      stderr: `offshoot needs Node 24 or newer; this is ${version}. Install it (https://nodejs.org) or run with: npx -p node@24 -p offshoot offshoot …\n`,
      status: 6,
    })
  })

  test('it hands over once, not in a circle', () => {
    const bin = install({ main: 'return 0' })
    expect(run(node, [bin], { OFFSHOOT_HANDED_OVER: '1' }).status).toBe(6)
  })
})

describe('on a Node that is new enough', () => {
  test('only the warning about SQLite is silenced', () => {
    const bin = install({
      main: `
        process.emitWarning('SQLite is an experimental feature and might change', 'ExperimentalWarning')
        process.emitWarning('something else')
        await import('node:sqlite')`,
    })
    const { stderr, status } = run(process.execPath, [bin])
    expect(status).toBe(0)
    expect(stderr).toContain('something else')
    expect(stderr).not.toContain('SQLite')
  })

  test('an offshoot started from inside may hand over again', () => {
    const bin = install({ main: `console.log(process.env.OFFSHOOT_HANDED_OVER ?? 'unset')` })
    expect(run(process.execPath, [bin], { OFFSHOOT_HANDED_OVER: '1' }).stdout).toBe('unset\n')
  })

  test('a command that fails unexpectedly exits with 1 and shows the error', () => {
    const bin = install({ main: `throw new Error('broken')` })
    const { stderr, status } = run(process.execPath, [bin])
    expect(status).toBe(1)
    expect(stderr).toContain('Error: broken')
  })
})
