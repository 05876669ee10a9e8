/** The differences between two steps. */
import { splitNul, toText } from '../../core/model/bytes.ts'
import type { DiffOptions, DiffStat, Step, StepFile } from '../../core/model/step.ts'
import type { OpenVault } from '../open.ts'
import { compareTrees } from './tree.ts'

const plain = ['--no-ext-diff', '--no-textconv', '--no-renames', '--ignore-submodules=none']

function callScope({ vault, alternates }: OpenVault, signal: AbortSignal | undefined) {
  return { gitDir: vault, alternates, cwd: vault, signal }
}

export async function filesOf(
  vault: OpenVault,
  steps: readonly Step[],
  signal?: AbortSignal,
): Promise<StepFile[][]> {
  const all: StepFile[][] = []
  for (const [index, step] of steps.entries()) {
    signal?.throwIfAborted()
    const before = steps[index - 1]
    if (!before) {
      all.push([])
      continue
    }
    const files = await compareTrees(vault.objects, before.tree, step.tree)
    all.push(
      Array.from(files, ([path, { from, to }]): StepFile => {
        return { path: toText(path), status: !from ? 'added' : to ? 'modified' : 'deleted' }
      }),
    )
  }
  return all
}

export async function statOf(
  vault: OpenVault,
  from: Step,
  to: Step,
  signal?: AbortSignal,
): Promise<DiffStat> {
  if (from.tree === to.tree) return { files: 0, insertions: 0, deletions: 0 }
  const args = ['diff-tree', '-r', '-z', '--numstat', ...plain, from.tree, to.tree]
  const { stdout } = await vault.exec({ args, ...callScope(vault, signal) })
  const lines = splitNul(stdout).map((line) => line.split('\t'))
  const sum = (column: number) => lines.reduce((total, line) => total + (Number(line[column]) || 0), 0)
  return { files: lines.length, insertions: sum(0), deletions: sum(1) }
}

export async function diffOf(
  vault: OpenVault,
  from: Step,
  to: Step,
  { format, color }: DiffOptions,
  signal?: AbortSignal,
): Promise<Buffer> {
  const formats = { patch: ['--patch', '--binary'], stat: ['--stat=120'], names: ['--name-only'] }
  const renames = format === 'names' ? [] : ['--find-renames']
  const args = [
    'diff',
    ...formats[format],
    ...plain,
    ...renames,
    `--color=${color ? 'always' : 'never'}`,
    from.tree,
    to.tree,
  ]
  const { stdout } = await vault.exec({ args, ...callScope(vault, signal) })
  return stdout
}

/** The patch as hunk ids are computed from it. */
export async function patchOf(
  vault: OpenVault,
  from: string,
  to: string,
  signal?: AbortSignal,
): Promise<Buffer> {
  const shape = ['--patch', '--full-index', '--unified=3', '--inter-hunk-context=0', '--color=never']
  const args = ['diff', ...shape, ...plain, from, to]
  return (await vault.exec({ args, ...callScope(vault, signal) })).stdout
}
