/** Finds out whether another branch has the commits of a branch: merged, cherry-picked or squashed. */
import type { CommitsBeside } from '../core/model/git.ts'
import type { Place } from '../core/model/repo.ts'
import type { GitExec } from './exec.ts'
import { frugal } from './frugal.ts'

/** No diff driver of a config applies. */
const plain = ['--patch', '--no-ext-diff', '--no-textconv', '--no-color', '--full-index']
/** The number of commits among which a squash is looked for. */
const maxCommits = 1_000

/** An agent can make a commit of a few objects and a hundred million paths. Git would answer after hours, with all memory. */
const bounded = {
  bounds: { memoryMegabytes: 2_048, cpuSeconds: 5 },
  deadlineMs: 5_000,
  maxOutput: 64 * 1024 * 1024,
  settings: frugal,
} as const

function call(place: Place, args: readonly string[], signal?: AbortSignal) {
  return { ...bounded, args, gitDir: place.commonDir, cwd: place.commonDir, signal }
}

/** `git cherry` prints `- <commit>` if the target has the patch, `+ <commit>` if it lacks it. */
export async function readBeside(
  exec: GitExec,
  place: Place,
  tip: string,
  target: string,
  signal?: AbortSignal,
): Promise<CommitsBeside> {
  const { stdout } = await exec(call(place, ['cherry', target, tip], signal))
  const lines = stdout.toString().split('\n').filter(Boolean)
  return { all: lines.length, missing: lines.filter((line) => line.startsWith('+')).length }
}

/** Whether one commit on the target, since the merge base, has the whole patch of the branch. */
export async function isSquashed(
  exec: GitExec,
  place: Place,
  tip: string,
  target: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const fork = await exec({ ...call(place, ['merge-base', target, tip], signal), expect: [1] })
  const base = fork.stdout.toString().trim()
  if (fork.code !== 0 || base === '') return false
  const [whole] = await patchIds(exec, place, ['diff-tree', ...plain, base, tip], signal)
  if (whole === undefined) return false
  // Showing a signature would run a program that the repository's config names.
  const shape = ['--no-show-signature', '--format=commit %H', '--no-merges', `--max-count=${maxCommits}`]
  const log = ['log', ...plain, ...shape, `${base}..${target}`]
  return (await patchIds(exec, place, log, signal)).includes(whole)
}

async function patchIds(
  exec: GitExec,
  place: Place,
  diff: readonly string[],
  signal?: AbortSignal,
): Promise<string[]> {
  const { stdout } = await exec(call(place, diff, signal))
  if (stdout.length === 0) return []
  const ids = await exec({ ...call(place, ['patch-id', '--stable'], signal), stdin: stdout })
  return ids.stdout
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' ')[0] ?? '')
}
