/**
 * The user's conversions on the way into a commit (line ends, filters, encodings), for what is published. They come
 * from the system's and the user's config, and from the repository's own as it was at the start: what an agent writes
 * into that config later must not run.
 */
import path from 'node:path'
import type { Files, Repo } from '../core/ports.ts'
import type { Task } from '../core/task.ts'
import type { GitExec } from '../git/exec.ts'
import { type BytePath, toBytes } from './bytes.ts'
import type { Objects } from './objects.ts'
import { taskFolder } from './place.ts'
import type { Leaf } from './tree.ts'

interface Scope {
  readonly exec: GitExec
  readonly files: Files
  readonly objects: Objects
  readonly vault: string
  readonly attributes: readonly string[]
}

/** The repository's own settings that convert, as pairs of key and value. */
type Settings = [key: string, value: string][]

/** Notes them down while they are still the user's own. */
export async function keepConversions(
  scope: Scope,
  repo: Repo,
  task: Task,
  signal?: AbortSignal,
): Promise<void> {
  const args = ['config', '-z', '--local', '--get-regexp', '^(core\\.(autocrlf|eol|safecrlf)|filter\\..*)$']
  const { stdout } = await scope.exec({
    args,
    gitDir: repo.commonDir,
    cwd: repo.commonDir,
    expect: [1],
    signal,
  })
  const settings: Settings = stdout
    .toString()
    .split('\0')
    .filter(Boolean)
    .map((entry) => [entry.slice(0, entry.indexOf('\n')), entry.slice(entry.indexOf('\n') + 1)])
  await scope.files.write(conversionsFile(scope, task), JSON.stringify(settings), 0o600)
}

function conversionsFile({ vault }: Scope, task: Task): string {
  return path.join(taskFolder(vault, task), 'conversions')
}

/** A git folder without the vault's own switches: conversions work in it. */
export async function makeCleanRoom({ files, vault }: Pick<Scope, 'files' | 'vault'>): Promise<string> {
  const room = path.join(vault, 'clean')
  if ((await files.readKind(path.join(room, 'HEAD'))) === 'file') return room
  for (const folder of ['objects', 'refs']) await files.makeFolder(path.join(room, folder), 0o700)
  await files.copy(path.join(vault, 'config'), path.join(room, 'config'))
  await files.write(path.join(room, 'HEAD'), 'ref: refs/heads/none\n', 0o600)
  return room
}

/** The repository's own settings that convert, as they were at the start. */
export async function conversionsOf(scope: Scope, task: Task): Promise<Settings> {
  return JSON.parse((await scope.files.readText(conversionsFile(scope, task))) ?? '[]') as Settings
}

export type Clean = (file: BytePath, leaf: Leaf) => Promise<Leaf>

/** Answers each file as `git add` would have stored it. */
export async function cleaner(scope: Scope, task: Task, signal?: AbortSignal): Promise<Clean> {
  const settings = await conversionsOf(scope, task)
  if (settings.length === 0 && !(await hasConversions(scope, task))) return async (_, leaf) => leaf
  const room = await makeCleanRoom(scope)
  return async (file, leaf) => {
    if (leaf.mode === '120000' || leaf.mode === '160000') return leaf
    const { stdout } = await scope.exec({
      args: ['hash-object', '-w', '--stdin', `--path=${toBytes(file).toString()}`],
      stdin: await scope.objects.readObject(leaf.oid),
      gitDir: room,
      objectDir: path.join(scope.vault, 'objects'),
      workTree: task.path,
      cwd: task.path,
      config: 'user',
      settings,
      signal,
    })
    return { mode: leaf.mode, oid: stdout.toString().trim() }
  }
}

/** Any attribute at all that has to do with text or filters, or a setting of the user's own. */
async function hasConversions(scope: Scope, task: Task): Promise<boolean> {
  const listed = await scope.exec({
    args: ['ls-files', '-z', '--cached', '--others', '--', '.gitattributes', ':(glob)**/.gitattributes'],
    gitDir: scope.vault,
    workTree: task.path,
    indexFile: path.join(taskFolder(scope.vault, task), 'index'),
    cwd: task.path,
    globs: true,
  })
  if (listed.stdout.length > 0) return true
  for (const file of scope.attributes) if ((await scope.files.readText(file)) !== undefined) return true
  const settings = ['config', '--get-regexp', '^core\\.(autocrlf|eol|attributesfile)$']
  const own = await scope.exec({
    args: settings,
    gitDir: scope.vault,
    cwd: scope.vault,
    config: 'user',
    expect: [1],
  })
  return own.stdout.length > 0
}
