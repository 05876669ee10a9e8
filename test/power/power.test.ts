/** P2: what was acknowledged is there when the power comes back. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { openRepo } from '../../src/index.ts'
import { fileFolder } from '../support/file-folder.ts'
import { memoryRoot } from '../support/temp-folders.ts'
import { killHard } from '../support/processes.ts'
import { cleanEnv } from '../support/repo.ts'
import type { How, What } from './power-child.ts'
import { landedContent, stepContent } from './step-content.ts'
import { Disk, type FileSystem, fileSystems, install, missingFor } from './disk.ts'

const child = path.join(import.meta.dirname, 'power-child.ts')
const many = 20
const root = fileFolder(memoryRoot())
const lost = new Map<string, string>()
let disks = 0

afterAll(() => {
  console.log(
    ['Acknowledged and lost by a power cut:', ...Array.from(lost, ([row, what]) => `  ${row}: ${what}`)].join(
      '\n',
    ),
  )
})

interface Cut {
  readonly disk: Disk
  readonly repo: string
  readonly env: Record<string, string>
  /** The commit of each step, or the operation of each landing, that was acknowledged before, from 1 on. */
  readonly acknowledged: readonly string[]
}

/** One act comes after the other; in the middle of that, with so many of them acknowledged, it goes dark. */
async function untilTheCut(fs: FileSystem, how: How, what: What, wanted: number): Promise<Cut> {
  const disk = new Disk(fs, path.join(root, String(disks++)))
  const env = cleanEnv(disk.place)
  const repo = path.join(disk.place, 'repo')
  mkdirSync(repo)
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repo, env, stdio: 'pipe' })
  git('init', '--quiet', '--initial-branch=main')
  git('config', 'user.name', 'User')
  git('config', 'user.email', 'user@example.com')
  writeFileSync(path.join(repo, '.gitattributes'), '*.crlf text eol=crlf\n')
  for (let n = 0; n < 40; n++) writeFileSync(path.join(repo, `base-${n}.txt`), `base ${n}\n`)
  git('add', '--all')
  git('commit', '--quiet', '--message=Base')
  disk.sync()
  const program = spawn(process.execPath, [child, repo, how, what], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => program.once('close', resolve))
  let said = ''
  program.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  const lines = () => said.split('\n').slice(0, -1)
  while (lines().length < wanted && program.exitCode === null) await pause(1)
  // Everything stands still while the disk is copied. What was said by then is acknowledged.
  const family = [program.pid ?? 0, ...childrenOf(program.pid ?? 0)]
  try {
    spawnSync('kill', ['-STOP', ...family.map(String)])
    await pause(50)
    disk.cut()
  } finally {
    killHard(...family)
  }
  await ended
  if (lines().length < wanted) throw new Error(`It ended after ${lines().length}.`)
  return { disk, repo, env, acknowledged: lines().map((line) => line.split(' ')[1] ?? '') }
}

function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
  return stdout
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(Number)
}

function gitIn(dir: string, ...args: string[]): { ok: boolean; said: string } {
  const { status, stdout, stderr } = spawnSync('git', ['-C', dir, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  return { ok: status === 0, said: stdout + stderr }
}

function damage(dir: string, alternates = ''): string[] {
  const env = { ...process.env, GIT_ALTERNATE_OBJECT_DIRECTORIES: alternates }
  const args = ['-C', dir, 'fsck', '--full', '--no-dangling', '--no-progress']
  const { stdout, stderr } = spawnSync('git', args, { encoding: 'utf8', env })
  const said = stdout + stderr
  return said.split('\n').filter((line) => line !== '' && !line.startsWith('notice:'))
}

/** How many of the acknowledged commits are not there, or not with all that they had. */
function countLost(gitDir: string, tip: string, acknowledged: readonly string[]): number {
  const line = gitIn(gitDir, 'rev-list', tip).said.split('\n')
  return acknowledged.filter((commit, index) => {
    if (!line.includes(commit)) return true
    const files = Object.assign({}, ...Array.from({ length: index + 1 }, (_, n) => stepContent(n + 1)))
    return Object.entries(files).some(
      ([name, text]) => gitIn(gitDir, 'cat-file', 'blob', `${commit}:${name}`).said !== text,
    )
  }).length
}

function vaultOf({ env }: Cut): string {
  const vaults = path.join(env.OFFSHOOT_HOME ?? '', 'vaults')
  return path.join(vaults, readdirSync(vaults)[0] ?? 'none')
}

/** The tip, read from the file: an empty one is none. A draft whose name some file system brings back is no tip. */
function tipOf(vault: string): string {
  const refs = path.join(vault, 'refs', 'tasks')
  const name = readdirSync(refs).find((entry) => !entry.startsWith('.')) ?? 'none'
  return readFileSync(path.join(refs, name), 'utf8').trim()
}

/** How many were lost; all of them where nothing can be read any more. */
function lostSteps(cut: Cut): number {
  try {
    return countLost(vaultOf(cut), tipOf(vaultOf(cut)), cut.acknowledged)
  } catch {
    return cut.acknowledged.length
  }
}

describe.each(fileSystems)('P2: after a power cut on $name', (fs) => {
  const missing = install(fs) ?? missingFor(fs, path.join(root, `try-${fs.name}`))
  if (missing) console.log(`The power-cut tests on ${fs.name} are skipped. There is no ${missing}.`)
  const note = (how: string, cut: Cut, gone: number) =>
    lost.set(`${fs.name}, ${how}`, `${gone} of ${cut.acknowledged.length}`)

  test.skipIf(missing).each([1, 4, many])(
    'every acknowledged step is there, and work goes on: %i',
    async (wanted) => {
      const cut = await untilTheCut(fs, 'synced', 'steps', wanted)
      try {
        const gone = lostSteps(cut)
        note(`offshoot, cut after ${wanted}`, cut, gone)
        expect(gone).toBe(0)
        expect(damage(cut.repo)).toEqual([])
        await goOn(cut)
        // Whatever is needed of the user's objects has been copied: the vault is whole by itself.
        const vault = vaultOf(cut)
        expect(gitIn(vault, 'rev-list', '--objects', '--quiet', '--glob=refs/tasks').said).toBe('')
        expect(damage(vault, path.join(cut.repo, '.git/objects'))).toEqual([])
        expect(damage(cut.repo)).toEqual([])
      } finally {
        cut.disk.unmount()
      }
    },
  )

  test.skipIf(missing).each([1, 2, 3, 9])(
    'A4, R1: what was landed is in the checkout and on the branch, what was given up comes back: %i',
    async (wanted) => {
      const cut = await untilTheCut(fs, 'synced', 'landings', wanted)
      try {
        const gone = await lostLandings(cut)
        note(`landings, cut after ${wanted}`, cut, gone.length)
        expect(gone).toEqual([])
        expect(damage(cut.repo)).toEqual([])
        await givenUpComesBack(cut)
      } finally {
        cut.disk.unmount()
      }
    },
  )

  test.skipIf(missing)('landings without a sync are lost: it is the syncs that keep them', async () => {
    const cut = await untilTheCut(fs, 'unsynced', 'landings', 9)
    try {
      const gone = await lostLandings(cut).catch(() => cut.acknowledged)
      note('landings without the syncs', cut, gone.length)
      expect(gone.length).toBeGreaterThan(0)
    } finally {
      cut.disk.unmount()
    }
  })

  test.skipIf(missing)('commits of a git that syncs nothing are lost: the test can see a loss', async () => {
    const cut = await untilTheCut(fs, 'git', 'steps', many)
    try {
      const gone = countLost(path.join(cut.repo, '.git'), 'main', cut.acknowledged)
      note('plain git', cut, gone)
      expect(gone).toBeGreaterThan(0)
    } finally {
      cut.disk.unmount()
    }
  })

  test.skipIf(missing)('steps taken without a sync are lost: it is the syncs that keep them', async () => {
    const cut = await untilTheCut(fs, 'unsynced', 'steps', many)
    try {
      const gone = lostSteps(cut)
      note('offshoot without its syncs', cut, gone)
      expect(gone).toBeGreaterThan(0)
    } finally {
      cut.disk.unmount()
    }
  })
})

/** Acknowledged acts that are not there any more, in words. */
async function lostLandings({ repo, env, acknowledged }: Cut): Promise<string[]> {
  const offshoot = openRepo(repo, { env })
  try {
    await offshoot.recover()
    const known = new Set((await offshoot.ops()).map(({ id }) => id))
    const tasks = new Map((await offshoot.list({ all: true })).map((task) => [task.id, task.state]))
    return acknowledged.flatMap((operation, index) => {
      const n = index + 1
      if (!known.has(operation)) return [`the operation of ${n}`]
      if (n % 3 === 2) return tasks.get(`T${n}`) === 'rejected' ? [] : [`the reject of ${n}`]
      const isThere = ([name, text]: [string, string]) => readText(path.join(repo, name)) === text
      const onBranch = ([name, text]: [string, string]) => gitIn(repo, 'show', `main:${name}`).said === text
      const files = Object.entries(landedContent(n))
      const whole = files.every((file) => isThere(file) && (n % 3 === 1 || onBranch(file)))
      return whole ? [] : [`the accept of ${n}`]
    })
  } finally {
    await offshoot.close()
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

/**
 * P3: the undo of every reject that was acknowledged. Nobody syncs what an agent writes, so its folder comes back as the
 * disk has it, if it has it; its last step, taken by the reject, has every byte.
 */
async function givenUpComesBack({ repo, env, acknowledged }: Cut): Promise<void> {
  const offshoot = openRepo(repo, { env })
  try {
    for (const [index, operation] of acknowledged.entries()) {
      if ((index + 1) % 3 !== 2) continue
      const { task } = await offshoot.undo(operation)
      await offshoot.start({ task: task.id })
      await offshoot.rewind({ task: task.id, to: task.checkpoints })
      for (const [name, text] of Object.entries(landedContent(index + 1)))
        expect(readFileSync(path.join(task.path, name), 'utf8')).toBe(text)
    }
  } finally {
    await offshoot.close()
  }
}

/** Recovery, all steps in the log, a step back, and a new step. */
async function goOn({ repo, env, acknowledged }: Cut): Promise<void> {
  const offshoot = openRepo(repo, { env })
  try {
    await offshoot.recover()
    const log = await offshoot.log('T1')
    expect(log.map((step) => step.commit)).toEqual(expect.arrayContaining([...acknowledged]))
    const { task } = await offshoot.start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'after.txt'), 'after the cut\n')
    const next = await offshoot.checkpoint({ task: 'T1' })
    expect(next.checkpoint.files.map((file) => file.path)).toContain('after.txt')
    await offshoot.rewind({ task: 'T1', to: 1 })
    for (const [name, text] of Object.entries(stepContent(1))) {
      expect(readFileSync(path.join(task.path, name), 'utf8')).toBe(text)
    }
    const published = await offshoot.checkpoint({ task: 'T1' })
    expect(published.checkpoint.published).toBeDefined()
    const second = await offshoot.start({ task: 'T2' })
    writeFileSync(path.join(second.task.path, 'other.txt'), 'another task\n')
    await offshoot.checkpoint({ task: 'T2' })
  } finally {
    await offshoot.close()
  }
}
