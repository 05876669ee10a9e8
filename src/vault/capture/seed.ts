/** The tree of step 0: the new workspace, byte for byte (docs/adr/0010-conversions-as-of-the-start.md). */
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
import type { VaultOptions } from '../open.ts'
import type { VaultPlace } from '../place.ts'
import { capture } from './capture.ts'
import { lookOnly } from '../../git/look.ts'

export interface SeedScope extends VaultPlace {
  readonly exec: GitExec
  readonly files: FileSystem
  readonly objects: Objects
  /** Attribute files outside of the repository that apply to this user. */
  readonly attributes: readonly string[]
}

/** Keeps the index that the checkout wrote, with its times: it has the stat of every file. */
export async function keepIndex(scope: SeedScope, repo: Repo, task: Task): Promise<string> {
  const folder = taskFolder(scope.vault, task)
  const index = path.join(folder, taskFiles.index)
  if ((await scope.files.readKind(index)) === 'file') return index
  await scope.files.makeFolder(folder, 0o700)
  await scope.files.copy(path.join(workspacePlace(repo, task).gitDir, 'index'), `${index}.new`, 0o600)
  await scope.files.rename(`${index}.new`, index)
  return index
}

/** The tree of step 0: the base commit's tree, with the files that the checkout converted replaced. */
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
  const held = scope.files.hold(workspace)
  try {
    await eachOf(splitNul(listed.stdout), 8, async (file) => {
      const taken = await capture({ ...scope, workspace, held }, file)
      if (taken.kind === 'file') changes.set(file, taken.leaf)
    })
  } finally {
    held.close()
  }
  return (await changeTree(scope.objects, baseTree, changes)).tree
}

/** Whether the workspace surely holds the bytes of its base commit. Does not open the vault. */
export function isPlainWorkspace(options: VaultOptions, repo: Repo, task: Task): Promise<boolean> {
  return isPlain({ ...options, gitDir: workspacePlace(repo, task).gitDir, commonDir: repo.commonDir })
}

/**
 * A quick check without a process: the index lists no attribute file, and no config has a setting that converts. The
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
  const index = await readFile(path.join(gitDir, 'index'), { flag: lookOnly }).catch(() => undefined)
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
 * Whether any file of the workspace may differ in bytes from the commit. Attributes that convert nothing, and `text` on
 * a system with LF line ends, change nothing at checkout.
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
  // A key without a value means true. Git has several spellings of false; we take every other value for true.
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
  for (const name of splitNul(listed.stdout)) {
    const file = path.join(workspace, toText(name))
    // Git follows no link there, and so knows no attributes by it.
    if ((await scope.files.readKind(file)) !== 'file') continue
    if (converting.test((await scope.files.readText(file)) ?? '')) return true
  }
  return false
}
