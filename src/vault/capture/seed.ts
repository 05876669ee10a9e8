/** Step 0: the workspace as it was made, byte for byte. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { eachOf } from '../../core/base/concurrency.ts'
import { splitNul, toText } from '../../core/model/bytes.ts'
import type { Repo } from '../../core/model/repo.ts'
import type { Task } from '../../core/model/task.ts'
import { taskFiles, taskFolder } from '../../core/model/layout.ts'
import type { FileSystem } from '../../core/ports/files.ts'
import type { GitExec } from '../../git/exec.ts'
import { workspacePlace } from '../../git/workspace-place.ts'
import type { Objects } from '../objects/objects.ts'
import { changeTree, type Leaf } from '../objects/tree.ts'
import { type VaultPlace } from '../place.ts'
import { capture } from './capture.ts'

export interface SeedScope extends VaultPlace {
  readonly exec: GitExec
  readonly files: FileSystem
  readonly objects: Objects
  /** Attribute files outside of the repository that count for this user. */
  readonly attributes: readonly string[]
}

/** Keeps the index that the checkout wrote, with its time: it tells what every file looked like. */
export async function keepIndex(scope: SeedScope, repo: Repo, task: Task): Promise<string> {
  const folder = taskFolder(scope.vault, task)
  const index = path.join(folder, taskFiles.index)
  if ((await scope.files.readKind(index)) === 'file') return index
  await scope.files.makeFolder(folder, 0o700)
  await scope.files.copy(path.join(workspacePlace(repo, task).gitDir, 'index'), `${index}.new`)
  await scope.files.rename(`${index}.new`, index)
  return index
}

/** The tree of step 0: that of the base commit, but for the files that a checkout converts. */
export async function seedTree(
  scope: SeedScope,
  workspace: string,
  baseTree: string,
  index: string,
  signal?: AbortSignal,
): Promise<string> {
  if (!(await convertsFiles(scope, workspace, index, signal))) return baseTree
  const listed = await scope.exec({
    args: ['ls-files', '-z'],
    gitDir: scope.vault,
    indexFile: index,
    cwd: scope.vault,
    signal,
  })
  const changes = new Map<string, Leaf>()
  await eachOf(splitNul(listed.stdout), 8, async (file) => {
    const taken = await capture({ ...scope, workspace }, file)
    if (taken.kind === 'file') changes.set(file, taken.leaf)
  })
  return (await changeTree(scope.objects, baseTree, changes)).tree
}

/**
 * A quick look without a process: no attribute file in the index, and nothing in any config that could convert. The
 * index must be of a version that does not shorten names.
 */
export async function isPlain(scope: {
  files: FileSystem
  gitDir: string
  commonDir: string
  configs: readonly string[]
  attributes: readonly string[]
}): Promise<boolean> {
  const { files, gitDir, commonDir, configs, attributes } = scope
  const index = await readFile(path.join(gitDir, 'index')).catch(() => undefined)
  if (!index || index.readUInt32BE(4) > 3 || index.includes('.gitattributes')) return false
  const read = (names: string[]) => Promise.all(names.map(async (name) => (await files.readText(name)) ?? ''))
  const [given, settings] = await Promise.all([
    read([...attributes, path.join(commonDir, 'info', 'attributes')]),
    read([...configs, path.join(commonDir, 'config'), path.join(gitDir, 'config.worktree')]),
  ])
  if (given.some((text) => text.trim() !== '')) return false
  if (settings.some((text) => /autocrlf|eol|attributesfile|include|filter|symlinks/i.test(text))) return false
  return process.platform !== 'win32'
}

const converting = /eol=crlf|\bcrlf\b|filter=|working-tree-encoding=|\bident\b/

/**
 * Whether any file may lie in the workspace with other bytes than in the commit. Attributes without a conversion,
 * and `text` on a system whose lines end in LF, change nothing on the way out.
 */
async function convertsFiles(
  scope: SeedScope,
  workspace: string,
  index: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const common = { cwd: workspace, config: 'user', signal } as const
  const gitDir = scope.commonDir
  const wanted = ['core.autocrlf', 'core.eol', 'core.attributesfile', 'core.symlinks']
  const settings = await scope.exec({
    args: ['config', '-z', '--get-regexp', `^(${wanted.join('|').replaceAll('.', '\\.')})$`],
    gitDir,
    expect: [1],
    ...common,
  })
  // A key without a value is true. Several ways lead to false, and all others are taken for true.
  const no = '\\n(?:false|no|off|0|)$'
  const odd = new RegExp(
    `^core\\.(?:autocrlf(?!\\ninput$|${no})|eol\\ncrlf$|attributesfile\\n(?!/dev/null$)|symlinks${no})`,
    'i',
  )
  if (
    settings.stdout
      .toString()
      .split('\0')
      .some((entry) => odd.test(entry))
  )
    return true
  if (process.platform === 'win32') return true
  for (const file of [...scope.attributes, path.join(gitDir, 'info', 'attributes')]) {
    if (converting.test((await scope.files.readText(file)) ?? '')) return true
  }
  const listed = await scope.exec({
    args: ['ls-files', '-z', '--', '.gitattributes', ':(glob)**/.gitattributes'],
    gitDir: scope.vault,
    indexFile: index,
    globs: true,
    ...common,
  })
  for (const file of splitNul(listed.stdout)) {
    if (converting.test((await scope.files.readText(path.join(workspace, toText(file)))) ?? '')) return true
  }
  return false
}
