import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isRunning, killHard, until } from '../support/processes.ts'
import { offshoot, testRepo } from '../support/repo.ts'
import { atTerminal, noTerminal } from '../support/terminal.ts'

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
  writeFileSync(path.join(home, 'dist/cli/main.js'), `export async function main(args, listen) { ${main} }`)
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
        listen(() => { console.log('got it'); clearInterval(alive); process.exitCode = 7 }, () => {})
        console.log('ready')`,
    })
    const child = spawn(node, [bin], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.on('data', (data) => {
      said += data
      if (said === 'ready\n') child.kill(signal)
    })
    expect(await once(child, 'close')).toEqual([7, null])
    expect(said).toBe('ready\ngot it\n')
  })

  test('I7: the command hears when the Node that handed over is killed', async () => {
    const bin = install({
      main: `
        const alive = setInterval(() => {}, 1000)
        listen(() => console.log('a signal'), () => { console.log('alone'); clearInterval(alive) })
        console.log('ready')`,
    })
    const child = spawn(node, [bin], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.on('data', (data) => {
      said += data
      if (said === 'ready\n') child.kill('SIGKILL')
    })
    expect(await once(child, 'close')).toEqual([null, 'SIGKILL'])
    expect(said).toBe('ready\nalone\n')
  })

  test('I7: killing the Node that handed over ends the run, and its work is a step', async () => {
    const repo = testRepo()
    await offshoot(repo, 'start', 'T1')
    const pidFile = path.join(repo.home, 'pid')
    const command = `echo half > half.txt; echo $$ > '${pidFile}.new'; mv '${pidFile}.new' '${pidFile}'; exec tail -f /dev/null`
    const args = [path.join(root, 'bin/offshoot.js'), 'exec', 'T1', '--', 'sh', '-c', command]
    const child = spawn(node, args, { cwd: repo.dir, env: repo.env, stdio: ['ignore', 'pipe', 'ignore'] })
    child.stdout.resume()
    await until(() => existsSync(pidFile), 'the command is at work')
    const pid = Number(readFileSync(pidFile, 'utf8'))
    onTestFinished(() => killHard(pid))
    child.kill('SIGKILL')
    // Its output closes when the last process that has it is gone.
    await once(child, 'close')
    expect(isRunning(pid)).toBe(false)
    const { checkpoints } = (await offshoot(repo, 'log', 'T1', '--json')).json
    expect(checkpoints).toMatchObject([{ n: 1, tool: 'sweep', files: [{ path: 'half.txt' }] }])
  })

  test.skipIf(noTerminal)(
    'S3: Ctrl-C at a terminal is one signal, also where stdin is no terminal',
    async () => {
      const repo = testRepo()
      await offshoot(repo, 'start', 'T1')
      const script = 'echo half > half.txt; echo at work; exec tail -f /dev/null'
      const words = ['exec', 'T1', '--', 'sh', '-c', script]
      for (const from of ['', '< /dev/null']) {
        const shown = await atTerminal(repo, words, [{ after: 'at work', type: '\u0003' }], {
          node,
          stdin: from,
        })
        expect(shown).toMatch(/error WT_021: Cancelled; (what it did is step 1|it had changed nothing)\./)
      }
    },
  )

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
