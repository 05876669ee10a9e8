/** The paths that the agent's own git tracks and the last step lacks. */
import path from 'node:path'
import { type BytePath, fromText, splitNul } from '../../core/model/bytes.ts'
import type { GitExec } from '../../git/exec.ts'
import { isReal, readPlain } from '../../git/own.ts'
import type { Leaf, Mode } from '../objects/tree.ts'
import { moduleFolders } from './modules.ts'
import { findStat } from './overlay.ts'
import type { ScanScope } from './scan.ts'

export interface StagedScope extends ScanScope {
  readonly exec: GitExec
  /** The git folder of the workspace. */
  readonly own: string
  readonly quiet: QuietIndexes
}

/**
 * Indexes that add nothing to the last step: path → stat. Git never changes an index in place, it renames a new file
 * over it, so the same stat means the same index.
 */
export type QuietIndexes = Map<string, string | undefined>

export function lookOfIndex(file: string): string | undefined {
  const stat = findStat(Buffer.from(file))
  return stat && [stat.ino, stat.size, stat.mtimeNs].join(' ')
}

/**
 * Files that the agent added with git, even if a rule ignores them, and submodules that `.gitmodules` names; of any
 * other nested repository we capture the files. An index that git cannot read adds nothing.
 */
export async function readStaged(
  { exec, files, vault, alternates, own, workspace, quiet }: StagedScope,
  tree: string,
  signal?: AbortSignal,
): Promise<Map<BytePath, Leaf>> {
  const staged = new Map<BytePath, Leaf>()
  const index = path.join(own, 'index')
  if (!(await isReal(files, own, 'index')) || (await files.readKind(index)) !== 'file') return staged
  const look = lookOfIndex(index)
  if (look === undefined || quiet.get(index) === look) return staged
  const { code, stdout } = await exec({
    args: ['diff-index', '--cached', '--raw', '--no-renames', '--no-abbrev', '--diff-filter=AT', '-z', tree],
    gitDir: vault,
    indexFile: index,
    alternates,
    cwd: vault,
    expect: [128],
    signal,
  })
  const fields = splitNul(stdout)
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, mode = '', oid = ''] = /^:\d+ (\d+) \w+ (\w+) /.exec(fields[at] ?? '') ?? []
    staged.set(fields[at + 1] ?? '', { mode: mode as Mode, oid })
  }
  if (code === 0 && staged.size === 0) quiet.set(index, look)
  if (!Array.from(staged.values()).some(isPointer)) return staged
  const named = new Set(moduleFolders(fromText((await readPlain(files, workspace, '.gitmodules')) ?? '')))
  for (const [file, leaf] of staged) if (isPointer(leaf) && !named.has(file)) staged.delete(file)
  return staged
}

export function isPointer(leaf: Leaf | null | undefined): boolean {
  return leaf?.mode === '160000'
}
