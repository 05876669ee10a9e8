/**
 * A clone that borrows the user's objects and shares nothing else: the user's repository does not notice what an agent
 * does to the clone's git. We write its git folder file by file; git fills the workspace
 * (docs/adr/0011-clone-isolation-written-by-hand.md).
 */
import path from 'node:path'
import type { Repo } from '../core/model/repo.ts'
import type { Task } from '../core/model/task.ts'
import type { FileSystem } from '../core/ports/files.ts'
import type { IsolationKind } from '../core/ports/isolation.ts'
import type { GitExec } from '../git/exec.ts'
import { readOwnHead, readPlain } from '../git/own.ts'
import { checkOut, fill, resetIndex } from './fill.ts'
import { inheritSparseness } from './worktree.ts'

export function cloneIsolation(exec: GitExec, files: FileSystem): IsolationKind {
  return {
    async make(repo, task, signal, onProgress) {
      await files.makeNewFolder(task.path)
      await makeGit(exec, files, repo, task, signal)
      signal?.throwIfAborted()
      await fill(exec, repo, task, signal, onProgress)
    },

    resetIndex: (repo, task, signal) => resetIndex(exec, repo, task, signal),
    checkOut: (repo, task, signal) => checkOut(exec, repo, task, signal),

    async findFault(repo, task, signal) {
      if (!(await isSound(exec, files, repo, task, signal))) return 'its git folder is damaged'
      const dotGit = path.join(task.path, '.git')
      return (await hasSoundConfig(exec, files, repo, dotGit, signal))
        ? undefined
        : 'the config of its git is damaged'
    },

    async mend(repo, task, aside, signal) {
      const dotGit = path.join(task.path, '.git')
      const borrowed = await borrowAgain(files, repo, dotGit)
      if (await isSound(exec, files, repo, task, signal)) {
        if (await hasSoundConfig(exec, files, repo, dotGit, signal)) return borrowed
        await files.makeFolder(path.dirname(aside), 0o700)
        await files.rename(path.join(dotGit, 'config'), aside)
        await files.write(path.join(dotGit, 'config'), await clonedConfig(exec, repo, signal))
        return true
      }
      if ((await files.readKind(dotGit)) !== undefined) {
        await files.makeFolder(path.dirname(aside), 0o700)
        await files.rename(dotGit, aside)
      }
      await makeGit(exec, files, repo, task, signal)
      await resetIndex(exec, repo, task, signal)
      return true
    },

    // A clone lies wholly in its folder, so no other folder can belong to it.
    async findOther() {
      return undefined
    },
    async detach() {},
    async attach() {},
  }
}

/** Whether its parts exist, its only alternate is the user's repository, and its HEAD is a commit. */
async function isSound(
  exec: GitExec,
  files: FileSystem,
  repo: Repo,
  task: Task,
  signal?: AbortSignal,
): Promise<boolean> {
  const gitDir = path.join(task.path, '.git')
  if (!(await hasParts(files, gitDir))) return false
  if ((await readPlain(files, gitDir, 'objects/info/alternates')) !== lender(repo)) return false
  const head = await readOwnHead(files, { commonDir: gitDir, gitDir, checkout: task.path })
  if (head === undefined) return false
  const { code } = await exec({
    args: ['rev-parse', '--verify', '--quiet', `${head}^{tree}`],
    gitDir: repo.commonDir,
    alternates: [path.join(gitDir, 'objects')],
    cwd: repo.commonDir,
    expect: [1, 128],
    signal,
  })
  return code === 0
}

/** If the user's repository was moved, only the path in the clone's alternates is wrong. */
async function borrowAgain(files: FileSystem, repo: Repo, gitDir: string): Promise<boolean> {
  if (!(await hasParts(files, gitDir))) return false
  const said = await readPlain(files, gitDir, 'objects/info/alternates')
  if (said === undefined || (await files.readKind(said.trim())) !== undefined) return false
  await files.write(alternatesFile(gitDir), lender(repo))
  return true
}

function lender({ commonDir }: Repo): string {
  return `${path.join(commonDir, 'objects')}\n`
}

async function hasParts(files: FileSystem, gitDir: string): Promise<boolean> {
  for (const [name, kind] of Object.entries(parts))
    if ((await files.readKind(path.join(gitDir, name))) !== kind) return false
  return true
}

const parts = {
  '.': 'folder',
  objects: 'folder',
  'objects/info': 'folder',
  refs: 'folder',
  'refs/heads': 'folder',
  config: 'file',
  commondir: undefined,
} as const

/**
 * Whether git can parse the config and it names no other work tree. Git reads it with `--file`, so it has no effect.
 */
async function hasSoundConfig(
  exec: GitExec,
  files: FileSystem,
  repo: Repo,
  gitDir: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const file = path.join(gitDir, 'config')
  if ((await files.readKind(file)) !== 'file') return false
  const keys = '^(core\\.(bare|worktree|repositoryformatversion))$'
  const { code, stdout } = await exec({
    args: ['config', '--file', file, '--no-includes', '-z', '--get-regexp', keys],
    gitDir: repo.commonDir,
    cwd: repo.commonDir,
    expect: [1, 3, 128],
    signal,
  })
  const said = new Map(
    stdout
      .toString()
      .split('\0')
      .filter(Boolean)
      .map((entry) => {
        const [key = '', value = 'true'] = entry.split('\n')
        return [key, value]
      }),
  )
  if (code > 1 || said.has('core.worktree') || (said.get('core.bare') ?? 'false') !== 'false') return false
  return Number(said.get('core.repositoryformatversion') ?? 0) <= 1
}

function alternatesFile(gitDir: string): string {
  return path.join(gitDir, 'objects', 'info', 'alternates')
}

async function makeGit(
  exec: GitExec,
  files: FileSystem,
  repo: Repo,
  task: Task,
  signal?: AbortSignal,
): Promise<void> {
  const gitDir = path.join(task.path, '.git')
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info']) {
    await files.makeFolder(path.join(gitDir, folder))
  }
  await files.write(alternatesFile(gitDir), lender(repo))
  await files.write(path.join(gitDir, 'config'), await clonedConfig(exec, repo, signal))
  await files.write(path.join(gitDir, 'packed-refs'), await clonedRefs(exec, repo, task, signal))
  for (const name of ['shallow', 'info/exclude', 'info/attributes']) {
    const text = await files.readText(path.join(repo.commonDir, name))
    if (text !== undefined) await files.write(path.join(gitDir, name), text)
  }
  await inheritSparseness(files, repo.place, gitDir)
  // Comes last: a folder without HEAD is no repository.
  await files.write(path.join(gitDir, 'HEAD'), `ref: refs/heads/${task.branch}\n`)
}

/** Settings that a clone inherits: storage format, identity and remotes; none that runs a command. */
const wanted =
  '^(core\\.(repositoryformatversion|filemode|ignorecase|symlinks|precomposeunicode|autocrlf|eol|safecrlf|sparsecheckout.*)|' +
  'extensions\\.(objectformat|worktreeconfig)|user\\..*|remote\\..*\\.(url|fetch|pushurl)|branch\\..*\\.(remote|merge))$'

export async function clonedConfig(
  exec: GitExec,
  repo: Pick<Repo, 'commonDir'>,
  signal?: AbortSignal,
): Promise<string> {
  const args = ['config', '--local', '-z', '--get-regexp', wanted]
  const { stdout } = await exec({ args, gitDir: repo.commonDir, cwd: repo.commonDir, expect: [1], signal })
  const lines = stdout
    .toString()
    .split('\0')
    .filter(Boolean)
    .map((entry) => {
      const [key = '', ...value] = entry.split('\n')
      return configLines(key, value.join('\n'))
    })
  return `[core]\n\tbare = false\n\tlogAllRefUpdates = true\n${lines.join('')}`
}

export function configLines(key: string, value: string): string {
  const [section, name] = [key.slice(0, key.indexOf('.')), key.slice(key.lastIndexOf('.') + 1)]
  const middle = key.slice(section.length + 1, -name.length - 1)
  const quoted = (text: string) => JSON.stringify(text)
  return `[${section}${middle === '' ? '' : ` ${quoted(middle)}`}]\n\t${name} = ${quoted(value)}\n`
}

/** The user's branches, tags and remote branches, and the task's own branch at its base. */
async function clonedRefs(exec: GitExec, repo: Repo, task: Task, signal?: AbortSignal): Promise<string> {
  const refs = await readCloned(exec, repo, signal)
  const own = `refs/heads/${task.branch}`
  if (!refs.has(own)) refs.set(own, task.base.commit)
  return packedRefs(refs)
}

export async function readCloned(
  exec: GitExec,
  { commonDir }: Pick<Repo, 'commonDir'>,
  signal?: AbortSignal,
): Promise<Map<string, string>> {
  const args = [
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    'refs/heads',
    'refs/tags',
    'refs/remotes',
  ]
  const { stdout } = await exec({ args, gitDir: commonDir, cwd: commonDir, signal })
  const refs = new Map<string, string>()
  for (const line of stdout.toString().split('\n')) {
    const [object, ref] = [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]
    if (object !== '') refs.set(ref, object)
  }
  return refs
}

export function packedRefs(refs: ReadonlyMap<string, string>): string {
  // Sorted by bytes, since git searches by bytes.
  const sorted = [...refs].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return `# pack-refs with: sorted\n${sorted.map(([ref, object]) => `${object} ${ref}\n`).join('')}`
}
