/** Programs are ours or the user's, never the workspace's (M1), and a record ends no process that we did not start (M7). */
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isRunning, killHard } from '../support/processes.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { withEnv } from '../support/workspace.ts'

/** A program in the workspace that says in `proof` that it ran. */
function plant(file: string, proof: string): void {
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, `#!/bin/sh\necho ran >> ${proof}\nexit 1\n`)
  chmodSync(file, 0o755)
}

test.each([
  ['./node_modules/.bin', 'node_modules/.bin/git'],
  ['node_modules/.bin', 'node_modules/.bin/git'],
  ['', 'git'],
])('S8, M1: git in a workspace is not run by way of %j in PATH', async (entry, file) => {
  const plain = testRepo({ 'a.txt': 'one\n', '.gitignore': 'node_modules\n' })
  const repo = withEnv(plain, { PATH: `${entry}:${plain.env.PATH}` })
  const { json } = await offshoot(repo, 'start', 't', '--json')
  const proof = path.join(repo.home, 'proof')
  const folder = json.task.path as string
  // Whoever stands in the checkout has the same folders there.
  for (const base of [folder, repo.dir]) plant(path.join(base, file), proof)
  writeFileSync(path.join(folder, 'a.txt'), 'two\n')
  for (const args of [['checkpoint', 't'], ['accept', 't', '--dry-run'], ['accept', 't'], ['undo']]) {
    const { code, stderr } = await offshoot(repo, ...args)
    expect([args[0], code, stderr]).toEqual([args[0], 0, expect.anything()])
  }
  expect(existsSync(proof)).toBe(false)
})

test('S8, M1: a command in a workspace gets a PATH of absolute folders', async () => {
  const plain = testRepo()
  const repo = withEnv(plain, { PATH: `./bin::${plain.env.PATH}:node_modules/.bin` })
  await offshoot(repo, 'start', 't')
  const { stdout } = await offshoot(repo, 'exec', 't', '--', '/bin/sh', '-c', 'echo "PATH=$PATH"')
  expect(stdout).toContain(`PATH=${plain.env.PATH}\n`)
})

const startOf = (pid: number | string) =>
  readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ')[19]!
const boot = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()

/** A record of a child, as a dead process of that pid would have left it. */
function writeRecord(repo: TestRepo, child: string, content: object): void {
  const folder = path.join(repo.env.OFFSHOOT_HOME!, 'children')
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, `999999-1.${child}`), JSON.stringify({ boot: boot(), ...content }))
}

test('S9, M7: a record ends no process that offshoot did not start', async () => {
  const repo = testRepo()
  await offshoot(repo, 'start', 't')
  const stranger = spawn('/bin/sleep', ['1000'], { detached: true, stdio: 'ignore' })
  onTestFinished(() => killHard(stranger.pid!))
  writeRecord(repo, String(stranger.pid), { startedAt: startOf(stranger.pid!) })
  expect((await offshoot(repo, 'recover')).code).toBe(0)
  expect(isRunning(stranger.pid!)).toBe(true)
})

const unshare = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0
if (!unshare) console.log('M7 with the pids 0 and 1 is skipped: unshare cannot make a pid namespace here.')

test.skipIf(!unshare).each(['0', '00', '1'])('S9, M7: a record of the pid %s ends nothing', async (child) => {
  const repo = testRepo()
  await offshoot(repo, 'start', 't')
  writeRecord(repo, child, { startedAt: 'START' })
  const file = path.join(repo.env.OFFSHOOT_HOME!, 'children', `999999-1.${child}`)
  const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
  // The first process of a namespace has the group 0, unless it begins one.
  const leading = child === '1' ? ['setsid'] : []
  // In a namespace of its own: where a record is believed, every process in it is killed.
  const script = `
      start=$(cut -d' ' -f22 /proc/1/stat)
      sed -i "s/START/$start/" ${file}
      sleep 1000 & other=$!
      setsid --wait ${process.execPath} ${bin} recover > /dev/null
      echo "code $?"
      kill -0 $other && echo alive
      kill -9 $other`
  const { stdout } = spawnSync(
    'unshare',
    ['--pid', '--fork', '--mount-proc', '--kill-child', ...leading, 'sh', '-c', script],
    {
      cwd: repo.dir,
      env: repo.env,
      encoding: 'utf8',
    },
  )
  expect(stdout).toBe('code 0\nalive\n')
})

test('S9, M7: a record clears no lock in a folder that is no repository of ours', async () => {
  const repo = testRepo()
  await offshoot(repo, 'start', 't')
  const elsewhere = path.join(repo.home, 'elsewhere')
  const locks = ['packed-refs.lock', 'HEAD.lock', 'packed-refs.new'].map((name) => path.join(elsewhere, name))
  mkdirSync(elsewhere)
  for (const lock of locks) writeFileSync(lock, '')
  writeRecord(repo, '999998', { startedAt: '1', changing: elsewhere })
  const now = new Date()
  for (const lock of locks) utimesSync(lock, now, now)
  expect((await offshoot(repo, 'recover')).code).toBe(0)
  expect(locks.filter((lock) => !existsSync(lock))).toEqual([])
})
