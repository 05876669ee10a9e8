/** The differences between two steps. */
import { type BytePath, splitNul, toText } from '../../core/model/bytes.ts'
import type { CountedFile, DiffOptions, DiffStat, StepFile, StepTree } from '../../core/model/step.ts'
import type { OpenVault } from '../open.ts'
import { compareTrees } from './tree.ts'

const plain = ['--no-ext-diff', '--no-textconv', '--no-renames', '--ignore-submodules=none']

function callScope({ vault, alternates }: OpenVault, signal: AbortSignal | undefined) {
  return { gitDir: vault, alternates, cwd: vault, signal }
}

export async function filesOf(
  vault: OpenVault,
  steps: readonly StepTree[],
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
    all.push(
      (await statusesOf(vault, before, step)).map(({ path, status }) => ({ path: toText(path), status })),
    )
  }
  return all
}

/** By path, as a new step tells its files. */
async function statusesOf(
  { objects }: OpenVault,
  before: StepTree,
  after: StepTree,
): Promise<(StepFile & { readonly path: BytePath })[]> {
  const found = await compareTrees(objects, before.tree, after.tree)
  return [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, { from, to }]) => ({ path, status: !from ? 'added' : to ? 'modified' : 'deleted' }))
}

export async function statOf(
  vault: OpenVault,
  from: StepTree,
  to: StepTree,
  signal?: AbortSignal,
): Promise<DiffStat> {
  const lines = [...(await linesOf(vault, from, to, signal)).values()]
  const sum = (side: keyof Lines) => lines.reduce((total, line) => total + (line[side] ?? 0), 0)
  return { files: lines.length, insertions: sum('insertions'), deletions: sum('deletions') }
}

export async function countsOf(
  vault: OpenVault,
  from: StepTree,
  to: StepTree,
  signal?: AbortSignal,
): Promise<CountedFile[]> {
  const lines = await linesOf(vault, from, to, signal)
  const files = await statusesOf(vault, from, to)
  return files.map(({ path, status }) => {
    const { insertions = null, deletions = null } = lines.get(path) ?? {}
    return { path: toText(path), status, insertions, deletions }
  })
}

type Lines = Pick<CountedFile, 'insertions' | 'deletions'>

async function linesOf(
  vault: OpenVault,
  from: StepTree,
  to: StepTree,
  signal?: AbortSignal,
): Promise<Map<BytePath, Lines>> {
  if (from.tree === to.tree) return new Map()
  const args = ['diff-tree', '-r', '-z', '--numstat', ...plain, from.tree, to.tree]
  const { stdout } = await vault.exec({ args, ...callScope(vault, signal) })
  // Git writes `-` for a binary file. A path may have tabs of its own.
  const count = (text = '') => (text === '-' ? null : Number(text))
  return new Map(
    splitNul(stdout).map((line) => {
      const [insertions, deletions, ...path] = line.split('\t')
      return [path.join('\t'), { insertions: count(insertions), deletions: count(deletions) }]
    }),
  )
}

export async function diffOf(
  vault: OpenVault,
  from: StepTree,
  to: StepTree,
  { format, color, binary }: DiffOptions,
  signal?: AbortSignal,
): Promise<Buffer> {
  const formats = {
    patch: binary ? ['--patch', '--binary'] : ['--patch'],
    stat: ['--stat=120'],
    names: ['--name-only'],
  }
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
