/** Many tasks in one repository, and ways to damage one of them. */
import { createHash } from 'node:crypto'
import {
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { call } from './call.ts'
import { compose } from '../../src/compose/full.ts'
import { eachOf } from '../../src/core/base/concurrency.ts'
import type { Task } from '../../src/core/model/task.ts'
import type { TestRepo } from './repo.ts'
import { vaultDir } from './vault.ts'

export interface Damage {
  readonly name: string
  /** Whether repair can make it right. */
  readonly mendable: boolean
  inflict(user: TestRepo, task: Task): void
}

const registration = (user: TestRepo, task: Task) =>
  path.join(user.dir, '.git', 'worktrees', path.basename(task.path))
const tip = (user: TestRepo, task: Task) => path.join(vaultDir(user), 'refs', 'tasks', task.uid)

export const damages: readonly Damage[] = [
  {
    name: 'the folder is deleted',
    mendable: true,
    inflict: (_, task) => rmSync(task.path, { recursive: true }),
  },
  {
    name: '.git is deleted',
    mendable: true,
    inflict: (_, task) => rmSync(path.join(task.path, '.git')),
  },
  {
    name: '.git is garbage',
    mendable: true,
    inflict: (_, task) => writeFileSync(path.join(task.path, '.git'), 'gitdir: /nowhere\n'),
  },
  {
    name: 'the registration is deleted',
    mendable: true,
    inflict: (user, task) => rmSync(registration(user, task), { recursive: true }),
  },
  {
    name: 'the HEAD of the registration is empty',
    mendable: true,
    inflict: (user, task) => writeFileSync(path.join(registration(user, task), 'HEAD'), ''),
  },
  {
    name: 'the registration is locked as half-made',
    mendable: true,
    inflict: (user, task) => writeFileSync(path.join(registration(user, task), 'locked'), 'initializing'),
  },
  {
    name: 'pin and branch are deleted',
    mendable: true,
    inflict(user, task) {
      user.git('update-ref', '-d', `refs/offshoot/base/${task.uid}`)
      user.git('update-ref', '-d', `refs/heads/${task.branch}`)
    },
  },
  {
    name: 'the ref of its steps is empty',
    mendable: true,
    inflict: (user, task) => writeFileSync(tip(user, task), ''),
  },
  {
    name: 'a verb did not end',
    mendable: true,
    inflict(user, task) {
      const pending = { verb: 'publish', owner: { pid: 1, startedAt: 'never', boot: 'another' } }
      const db = new DatabaseSync(path.join(user.env.OFFSHOOT_HOME ?? '', 'state.db'))
      db.prepare('UPDATE tasks SET pending = 1, summary = ? WHERE uid = ?').run(
        JSON.stringify({ ...task, pending }),
        task.uid,
      )
      db.close()
    },
  },
  {
    name: 'its last step is gone from the vault',
    mendable: false,
    inflict(user, task) {
      const commit = readFileSync(tip(user, task), 'utf8').trim()
      rmSync(path.join(vaultDir(user), 'objects', commit.slice(0, 2), commit.slice(2)))
    },
  },
]

/**
 * Tasks made by one process, some at once; every `every`th has a step. The others do without what is done behind a start:
 * it takes most of the time, and whoever needs it does it.
 */
export async function manyTasks(user: TestRepo, count: number, every: number): Promise<void> {
  const ports = compose({ env: user.env })
  const hurried = { ...ports, later: () => {} }
  await eachOf(
    Array.from({ length: count }, (_, n) => n),
    4,
    async (n) => {
      const [repo, task] = [user.dir, `T${n}`]
      const started = await call(n % every === 0 ? ports : hurried, 'task.start', { repo, task })
      if (n % every !== 0) return
      writeFileSync(path.join(started.task.path, 'work.txt'), `work of ${task}\n`)
      await call(ports, 'task.checkpoint', { repo, task, files: ['work.txt'] })
    },
  )
  await ports.close()
}

/** Everything of a task outside of the records: its files, its registration, its refs. */
export function pictureOf(user: TestRepo, task: Task): Record<string, string> {
  const found: Record<string, string> = {}
  addFiles(found, 'workspace', task.path)
  addFiles(found, 'registration', registration(user, task))
  addFiles(found, 'steps', tip(user, task))
  return found
}

export function addFiles(found: Record<string, string>, name: string, file: string): void {
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (!stat) return
  if (stat.isDirectory()) {
    for (const entry of readdirSync(file).toSorted())
      addFiles(found, `${name}/${entry}`, path.join(file, entry))
    return
  }
  const content = stat.isSymbolicLink() ? readlinkSync(file) : readFileSync(file)
  found[name] = `${stat.mode.toString(8)} ${createHash('sha256').update(content).digest('hex')}`
}

/** The database is gone, as if somebody had deleted it. */
export function loseRecords(user: TestRepo): void {
  const home = user.env.OFFSHOOT_HOME ?? ''
  for (const name of readdirSync(home))
    if (name.startsWith('state.db')) renameSync(path.join(home, name), path.join(user.home, `lost-${name}`))
}
