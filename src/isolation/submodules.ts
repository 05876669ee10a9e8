/**
 * Fills the submodules of a new workspace from the user's own copies in `.git/modules`. Each gets a git folder where
 * git itself would put it, with that copy as its alternate: nothing is fetched, and no object is stored twice.
 */
import path from 'node:path'
import type { Submodules } from '../core/model/git.ts'
import type { Repo } from '../core/model/repo.ts'
import type { Task } from '../core/model/task.ts'
import type { FileSystem } from '../core/ports/files.ts'
import type { GitExec } from '../git/exec.ts'
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
  for (const name of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info'])
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
