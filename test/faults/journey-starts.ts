/** The states that a verb may find. The user's checkout is there already. */
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { call } from '../support/call.ts'
import { slotParts, taskFiles } from '../../src/core/model/layout.ts'
import type { Ports } from '../../src/core/ports/index.ts'
import { append } from '../../src/core/tasks/records.ts'
import { shared } from './user-repo.ts'
import type { Fixture } from './journey-runner.ts'
import { accept, checkpoint, pool, start } from './journey-verbs.ts'
import { findVault, ourBranch, readSnapshot } from './full-snapshot.ts'

export async function started(fixture: Fixture): Promise<string> {
  const ports = fixture.ports()
  try {
    return (await start(ports, fixture.dir)).task.path
  } finally {
    await ports.close()
  }
}

/** The agent has committed something, and made a file that git ignores. */
export async function startedAndCommitted(fixture: Fixture): Promise<string> {
  const workspace = await started(fixture)
  writeFileSync(path.join(workspace, 'work.txt'), 'work\n')
  writeFileSync(path.join(workspace, 'build.log'), 'built\n')
  const quiet = ['-C', workspace, '-c', 'core.hooksPath=/dev/null']
  await fixture.git(...quiet, 'add', '--all')
  await fixture.git(...quiet, 'commit', '--quiet', '--message=Work')
  return workspace
}

/** A command has gone astray: a tag and a hook of the user's are gone, others are there, HEAD and index are changed. */
export async function strayed(fixture: Fixture): Promise<void> {
  await fixture.git('-C', fixture.dir, '-c', 'core.hooksPath=/dev/null', 'tag', 'theirs')
  writeFileSync(path.join(fixture.dir, '.git/hooks/post-merge'), 'exit 0\n', { mode: 0o700 })
  const ports = fixture.ports()
  try {
    const script = `set -- git -c core.hooksPath=/dev/null; "$@" tag -d theirs && "$@" tag astray &&
      rm .git/hooks/post-merge && echo evil > .git/hooks/post-checkout && chmod 600 .git/config &&
      "$@" config user.name Eve && "$@" update-index --assume-unchanged a.txt &&
      "$@" symbolic-ref HEAD refs/heads/feature`
    const command = ['sh', '-c', `cd '${fixture.dir}' && ${script}`]
    await call(
      ports,
      'task.run',
      { repo: fixture.dir, task: 'T1', create: false, command },
      undefined,
      () => {},
    )
  } finally {
    await ports.close()
  }
}

/** Everything that would be lost if the folder were deleted. */
export async function startedAndDirty(fixture: Fixture): Promise<void> {
  const workspace = await startedAndCommitted(fixture)
  const write = (name: string, content: string) => writeFileSync(path.join(workspace, name), content)
  write('a.txt', 'edited\n')
  write('staged.txt', 'staged\n')
  await fixture.git('-C', workspace, 'add', 'staged.txt')
  mkdirSync(path.join(workspace, 'new'))
  write('new/untracked.bin', '\0\u00ff')
  symlinkSync('../a.txt', path.join(workspace, 'new/link'))
}

export const nothing = async () => {}

interface Work {
  /** Also a file that the user is editing, at another place of it. */
  readonly shared: boolean
}

/** An agent has worked: files changed, added in a new folder, deleted with theirs, and made executable. */
async function startedAndWorked(
  fixture: Fixture,
  { shared: also }: Work = { shared: true },
): Promise<string> {
  const workspace = await started(fixture)
  const write = (name: string, content: string) => writeFileSync(path.join(workspace, name), content)
  if (also) write('a.txt', shared('one', 'of the agent'))
  mkdirSync(path.join(workspace, 'new/deep'), { recursive: true })
  write('new/deep/file.txt', 'new\n')
  symlinkSync('../a.txt', path.join(workspace, 'new/link'))
  rmSync(path.join(workspace, 'old'), { recursive: true })
  write('src/b.txt', 'three\n')
  chmodSync(path.join(workspace, 'src/b.txt'), 0o755)
  write('build.log', 'built\n')
  return workspace
}

const act = async (fixture: Fixture, verb: (ports: Ports) => Promise<unknown>) => {
  const ports = fixture.ports()
  try {
    await verb(ports)
  } finally {
    await ports.close()
  }
}

/** A workspace is ready for the next start. */
export async function madeAhead(fixture: Fixture): Promise<void> {
  await act(fixture, (ports) => pool(ports, fixture.dir))
}

/** Makes the slots of a copied pool slots again: by its new inodes each would count as touched, and be thrown away. */
export async function withFreshSlots(fixture: Fixture): Promise<void> {
  const ports = fixture.ports()
  try {
    for (const record of globSync(path.join(fixture.state, 'workspaces/*/.pool/*/slot.json'))) {
      const slot = path.dirname(record)
      const { git, files, task } = slotParts(slot)
      const at = [`--git-dir=${git}`, `--work-tree=${files}`]
      await fixture.git('-c', 'core.hooksPath=/dev/null', ...at, 'update-index', '-q', '--refresh')
      copyFileSync(path.join(git, 'index'), path.join(task, taskFiles.index))
      const known = JSON.parse(readFileSync(record, 'utf8')) as object
      writeFileSync(record, JSON.stringify({ ...known, look: await ports.slots.readLook(slot) }))
    }
  } finally {
    await ports.close()
  }
}

/** The same, and the branch has moved on since. */
export async function madeAheadAndMoved(fixture: Fixture): Promise<void> {
  await madeAhead(fixture)
  await fixture.git('-c', 'core.hooksPath=/dev/null', 'update-ref', 'refs/heads/main', 'feature')
}

/** The branch `with-lib` has a submodule, of which the repository keeps a copy; nothing of it is checked out. */
export async function submoduleElsewhere(fixture: Fixture): Promise<void> {
  const { dir, git } = fixture
  await git('clone', '--quiet', '--bare', '.', '.git/modules/lib')
  const room = path.join(fixture.home, 'room')
  await git('worktree', 'add', '--quiet', '-b', 'with-lib', room)
  writeFileSync(path.join(room, '.gitmodules'), `[submodule "lib"]\n\tpath = lib\n\turl = ${dir}\n`)
  const quiet = ['-C', room, '-c', 'core.hooksPath=/dev/null']
  await git(...quiet, 'add', '--all')
  const commit = (await git('rev-parse', 'main')).trim()
  await git(...quiet, 'update-index', '--add', '--cacheinfo', `160000,${commit},lib`)
  await git(...quiet, 'commit', '--quiet', '--message=Lib')
  await git('worktree', 'remove', '--force', room)
}

/** Step 1 is taken, and more has been done since. */
export async function workedOn(fixture: Fixture): Promise<void> {
  const workspace = await startedAndWorked(fixture)
  await act(fixture, (ports) => checkpoint(ports, fixture.dir))
  writeFileSync(path.join(workspace, 'a.txt'), 'edited after step 1\n')
  writeFileSync(path.join(workspace, 'later.txt'), 'later\n')
}

/** A step is taken, and more has been done since; nothing that the user is editing. */
export async function readyToLand(fixture: Fixture, work: Work = { shared: false }): Promise<void> {
  const workspace = await startedAndWorked(fixture, work)
  await act(fixture, (ports) => checkpoint(ports, fixture.dir))
  writeFileSync(path.join(workspace, 'src/run.sh'), '#!/bin/sh\ntrue\n')
}

/** The same, and beside it a second task that nobody has touched. */
export async function twoToPrune(fixture: Fixture): Promise<void> {
  await readyToLand(fixture)
  await act(fixture, (ports) => start(ports, fixture.dir, { task: 'T2' }))
}

/** The same, with a repository to push to and a `gh` that opens what it is asked for, and says so when it has before. */
export async function readyToAsk(fixture: Fixture): Promise<void> {
  const bare = path.join(fixture.home, 'remote.git')
  await fixture.git('init', '--quiet', '--bare', bare)
  await fixture.git('remote', 'add', 'origin', bare)
  const bin = path.join(fixture.home, 'bin')
  mkdirSync(bin)
  const asked = path.join(fixture.home, 'asked')
  const lines = [
    '#!/bin/sh',
    '[ "$1" = --version ] && exit 0',
    `mkdir '${asked}' 2> /dev/null || { echo 'already exists: https://example.com/pull/7' >&2; exit 1; }`,
    'echo https://example.com/pull/7',
    '',
  ]
  writeFileSync(path.join(bin, 'gh'), lines.join('\n'), { mode: 0o755 })
  await readyToLand(fixture)
}

/** The same in the user's own checkout, where what they had not committed is put away. */
export async function workedInCheckout(fixture: Fixture): Promise<void> {
  await act(fixture, (ports) => start(ports, fixture.dir, { isolation: 'branch' }))
  writeFileSync(path.join(fixture.dir, 'a.txt'), shared('one', 'of the agent'))
  mkdirSync(path.join(fixture.dir, 'new'))
  writeFileSync(path.join(fixture.dir, 'new/file.txt'), 'new\n')
  rmSync(path.join(fixture.dir, 'old'), { recursive: true })
  await act(fixture, (ports) => checkpoint(ports, fixture.dir))
  writeFileSync(path.join(fixture.dir, 'src/run.sh'), '#!/bin/sh\ntrue\n')
}

/** The same, a day ago. */
export async function leftInCheckout(fixture: Fixture): Promise<void> {
  await workedInCheckout(fixture)
  await act(fixture, async (ports) => {
    const yesterday = new Date(Date.now() - 86_400_000).toISOString()
    for (const { uid } of await ports.store.readTasks({ open: true }))
      await append(ports, uid, { type: 'recreate.done' }, yesterday)
  })
}

/** It has been done, and is to be undone. */
export const after =
  (prepare: (fixture: Fixture) => Promise<void>, verb: (ports: Ports, dir: string) => Promise<unknown>) =>
  async (fixture: Fixture) => {
    await prepare(fixture)
    await act(fixture, (ports) => verb(ports, fixture.dir))
  }

/** Two steps, and a part of it has landed. */
const landedInPart = after(
  after(workedOn, (ports, dir) => accept(ports, dir, { only: ['later.txt'] })),
  (ports, dir) => checkpoint(ports, dir),
)

/** Of the task's git, refs and steps nothing is as it should be. */
export async function damaged(fixture: Fixture): Promise<void> {
  await landedInPart(fixture)
  const [task] = (await readSnapshot(fixture)).open
  writeFileSync(path.join(task!.path, '.git'), 'gitdir: /nowhere\n')
  for (const ref of [`refs/offshoot/base/${task!.uid}`, ourBranch])
    await fixture.git('-c', 'core.hooksPath=/dev/null', 'update-ref', '-d', ref)
  rmSync(path.join(findVault(fixture)!, 'refs/tasks', task!.uid))
}

/** Somebody has deleted the database. */
export async function withoutRecords(fixture: Fixture): Promise<void> {
  await landedInPart(fixture)
  for (const name of ['state.db', 'state.db-wal', 'state.db-shm'])
    rmSync(path.join(fixture.state, name), { force: true })
}
