/**
 * Fills the submodules of a new workspace from the user's own copies in `.git/modules`. Each gets a git folder where
 * git itself would put it, with that copy as its alternate: nothing is fetched, and no object is stored twice.
 */
import path from 'node:path'
import type { ModulePointer, Submodules } from '../core/model/git.ts'
import type { Repo } from '../core/model/repo.ts'
import type { Task } from '../core/model/task.ts'
import { branchRefs, ownRefs } from '../core/model/refs.ts'
import type { FileSystem } from '../core/ports/files.ts'
import type { GitExec } from '../git/exec.ts'
import { readPlain } from '../git/own.ts'
import { workspacePlace } from '../git/workspace-place.ts'
import { clonedConfig, configLines, packedRefs, readCloned } from './clone.ts'
import { fillSettings } from './fill.ts'

/** A folder with submodules: a workspace, or a submodule with nested ones. */
interface Outer {
  /** The user's git folder, which has a `modules` folder. */
  readonly from: string
  /** The git folder of the workspace, or of the submodule in it. */
  readonly gitDir: string
  readonly folder: string
  readonly commit: string
  /** Its path relative to the workspace. */
  readonly prefix: string
}

interface Link {
  readonly name: string
  readonly path: string
  readonly commit: string
}

export async function fillSubmodules(
  exec: GitExec,
  files: FileSystem,
  repo: Repo,
  task: Task,
  commit: string,
  signal?: AbortSignal,
): Promise<Submodules> {
  const { gitDir } = workspacePlace(repo, task)
  return fillAll(exec, files, { from: repo.commonDir, gitDir, folder: task.path, commit, prefix: '' }, signal)
}

async function fillAll(
  exec: GitExec,
  files: FileSystem,
  outer: Outer,
  signal?: AbortSignal,
): Promise<Submodules> {
  const filled: string[] = []
  const empty: { path: string; why: string }[] = []
  if ((await files.readKind(path.join(outer.folder, '.gitmodules'))) !== 'file') return { filled, empty }
  for (const link of await readLinks(exec, outer, signal)) {
    const shown = outer.prefix + link.path
    const folder = path.join(outer.folder, link.path)
    // The folder may be missing outside of the sparse cone, or have other content: such a submodule is skipped.
    if ((await files.readKind(folder)) !== 'folder' || (await files.readNames(folder)).length > 0) continue
    if ((await files.readRealPath(folder)) !== folder) continue
    const inner = { ...moduleOf(outer, link), folder, commit: link.commit, prefix: `${shown}/` }
    const why = await findLack(exec, files, inner, signal)
    if (why !== undefined) {
      empty.push({ path: shown, why })
      continue
    }
    await fillOne(exec, files, inner, signal)
    filled.push(shown)
    const nested = await fillAll(exec, files, inner, signal)
    filled.push(...nested.filled)
    empty.push(...nested.empty)
  }
  return { filled, empty }
}

function moduleOf({ from, gitDir }: Outer, { name }: Link): Pick<Outer, 'from' | 'gitDir'> {
  return { from: path.join(from, 'modules', name), gitDir: path.join(gitDir, 'modules', name) }
}

/** The submodules that `.gitmodules` names and the commit has a pointer for. */
async function readLinks(exec: GitExec, { from, commit }: Outer, signal?: AbortSignal): Promise<Link[]> {
  const call = { gitDir: from, cwd: from, signal }
  const listed = await exec({
    args: ['config', '--blob', `${commit}:.gitmodules`, '-z', '--get-regexp', '^submodule\\..*\\.path$'],
    expect: [1, 128],
    ...call,
  })
  const named = records(listed.stdout).flatMap((entry) => {
    const [key = '', at = ''] = entry.split('\n')
    const name = key.slice('submodule.'.length, -'.path'.length)
    return isSafe(name) && isSafe(at) ? [{ name, path: at }] : []
  })
  if (named.length === 0) return []
  const paths = named.map((one) => one.path)
  const { stdout } = await exec({ args: ['ls-tree', '-z', commit, '--', ...paths], ...call })
  const pointers = new Map(
    records(stdout).flatMap((entry): [string, string][] => {
      const [, object, at] = /^160000 commit ([0-9a-f]+)\t(.*)$/s.exec(entry) ?? []
      return object !== undefined && at !== undefined ? [[at, object]] : []
    }),
  )
  return named.flatMap((one) => {
    const commitOf = pointers.get(one.path)
    return commitOf === undefined ? [] : [{ ...one, commit: commitOf }]
  })
}

const records = (output: Buffer) => output.toString().split('\0').filter(Boolean)

/** A name becomes a path: it must not lead out of its folder. */
function isSafe(name: string): boolean {
  return (
    name !== '' &&
    !path.isAbsolute(name) &&
    !name.split('/').some((part) => ['', '.', '..', '.git'].includes(part))
  )
}

/** The reason why a submodule cannot be checked out; undefined when it can. */
async function findLack(
  exec: GitExec,
  files: FileSystem,
  { from, commit }: Outer,
  signal?: AbortSignal,
): Promise<string | undefined> {
  if ((await files.readKind(path.join(from, 'HEAD'))) !== 'file') return 'the repository has not fetched it'
  const { code } = await exec({
    args: ['rev-parse', '--verify', '--quiet', `${commit}^{tree}`],
    gitDir: from,
    cwd: from,
    expect: [1, 128],
    signal,
  })
  return code === 0 ? undefined : `the repository has not fetched its commit ${commit.slice(0, 10)}`
}

async function fillOne(exec: GitExec, files: FileSystem, module: Outer, signal?: AbortSignal): Promise<void> {
  const { from, gitDir, folder, commit } = module
  for (const name of ['objects/info', 'objects/pack', branchRefs, 'refs/tags', 'info'])
    await files.makeFolder(path.join(gitDir, name))
  await files.write(path.join(gitDir, 'objects', 'info', 'alternates'), `${path.join(from, 'objects')}\n`)
  const config = await clonedConfig(exec, { commonDir: from }, signal)
  await files.write(path.join(gitDir, 'config'), config + configLines('core.worktree', folder))
  await files.write(
    path.join(gitDir, 'packed-refs'),
    packedRefs(await readCloned(exec, { commonDir: from }, signal)),
  )
  const shallow = await files.readText(path.join(from, 'shallow'))
  if (shallow !== undefined) await files.write(path.join(gitDir, 'shallow'), shallow)
  await files.write(path.join(gitDir, 'HEAD'), `${commit}\n`)
  await files.write(path.join(folder, '.git'), `gitdir: ${gitDir}\n`)
  await exec({
    args: ['read-tree', '--reset', '-u', commit],
    gitDir,
    workTree: folder,
    cwd: folder,
    config: 'user',
    settings: fillSettings,
    signal,
  })
}

/**
 * Brings commits of submodules that exist only in the workspace into the user's own copies, where `git submodule update`
 * finds them, and keeps them with a ref there. Answers the pointers that would lead nowhere, and why. Runs git only in the
 * user's copies: what an agent wrote is read as objects, which git checks before they count.
 */
export async function bringModules(
  exec: GitExec,
  files: FileSystem,
  repo: Repo,
  task: Task,
  pointers: readonly ModulePointer[],
  signal?: AbortSignal,
): Promise<{ path: string; why: string }[]> {
  const lost: { path: string; why: string }[] = []
  for (const pointer of pointers) {
    const why = await bringModule(exec, files, repo, task, pointer, signal)
    if (why !== undefined) lost.push({ path: pointer.path, why })
  }
  return lost
}

async function bringModule(
  exec: GitExec,
  files: FileSystem,
  repo: Repo,
  task: Task,
  { name, path: at, commit }: ModulePointer,
  signal?: AbortSignal,
): Promise<string | undefined> {
  if (!isSafe(name) || !isSafe(at)) return 'its name leads out of its folder'
  const own = await findFolder(files, [
    path.join(workspacePlace(repo, task).gitDir, 'modules', name),
    path.join(task.path, at, '.git'),
  ])
  const users = await findFolder(files, [
    path.join(repo.commonDir, 'modules', name),
    ...(repo.place.checkout === null ? [] : [path.join(repo.place.checkout, at, '.git')]),
  ])
  const call = { gitDir: users ?? repo.commonDir, cwd: users ?? repo.commonDir, signal }
  const has = (alternates: readonly string[]) =>
    exec({
      args: ['rev-list', '--objects', '--quiet', commit, '--not', '--all'],
      alternates,
      expect: [128],
      ...call,
    }).then(({ code }) => code === 0)
  if (users !== undefined && (await has([]))) return undefined
  // Without a copy here, `git submodule update` fetches: a commit that the workspace has fetched is there for you, too.
  if (users === undefined)
    return own === undefined || (await isFetched(exec, files, repo, own, commit, signal))
      ? undefined
      : `its commit ${commit.slice(0, 10)} exists only in the workspace, and the repository has no copy of the submodule`
  const alternates = own === undefined ? [] : [path.join(own, 'objects')]
  if (!(await has(alternates))) return `its commit ${commit.slice(0, 10)} cannot be found`
  const refs = await exec({ args: ['for-each-ref', '--format=^%(objectname)'], ...call })
  const pack = path.join(users, `offshoot-pack-${commit}`)
  try {
    const packed = await exec({
      args: ['pack-objects', '--revs', '-q', pack],
      stdin: `${commit}\n${refs.stdout.toString()}`,
      alternates,
      ...call,
    })
    const file = `${pack}-${packed.stdout.toString().trim()}.pack`
    await exec({ args: ['index-pack', '--stdin', '--strict'], stdinFile: file, durable: true, ...call })
    const ref = `${ownRefs}/landed/${commit}`
    await exec({
      args: ['update-ref', '-m', `offshoot: landed with ${task.uid}`, ref, commit],
      durable: true,
      ...call,
    })
    return undefined
  } finally {
    for (const left of await files.readNames(users))
      if (left.startsWith(path.basename(pack))) await files.remove(path.join(users, left))
  }
}

async function findFolder(files: FileSystem, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders)
    if ((await files.readKind(path.join(folder, 'objects'))) === 'folder') return folder
  return undefined
}

/** Whether a branch of a remote, as the workspace has fetched it, has the commit. */
async function isFetched(
  exec: GitExec,
  files: FileSystem,
  repo: Repo,
  own: string,
  commit: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const packed = (await readPlain(files, own, 'packed-refs')) ?? ''
  const known = Array.from(
    packed.matchAll(/^([0-9a-f]{40,64}) refs\/(?:remotes|tags)\//gm),
    ([, id = '']) => id,
  )
  for (const remote of await files.readNames(path.join(own, 'refs', 'remotes')))
    for (const name of await files.readNames(path.join(own, 'refs', 'remotes', remote)))
      known.push((await readPlain(files, own, `refs/remotes/${remote}/${name}`))?.trim() ?? '')
  const ids = known.filter((id) => /^[0-9a-f]{40,64}$/.test(id))
  const { code, stdout } = await exec({
    args: ['rev-list', '--max-count=1', '--ignore-missing', '--stdin'],
    stdin: [commit, ...ids.map((id) => `^${id}`), ''].join('\n'),
    gitDir: repo.commonDir,
    alternates: [path.join(own, 'objects')],
    cwd: repo.commonDir,
    expect: [128],
    signal,
  })
  return code === 0 && stdout.length === 0
}
