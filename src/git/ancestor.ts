/** Whether one commit is an ancestor of another. */
import type { GitExec } from './exec.ts'

interface Where {
  readonly gitDir: string
  readonly alternates?: readonly string[] | undefined
  /** Treats a missing commit as no ancestor; otherwise git's error about it is thrown. */
  readonly mayLack?: boolean | undefined
}

export async function isAncestor(
  exec: GitExec,
  { gitDir, alternates, mayLack }: Where,
  older: string,
  newer: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const { code } = await exec({
    args: ['merge-base', '--is-ancestor', older, newer],
    gitDir,
    ...(alternates && { alternates }),
    cwd: gitDir,
    expect: mayLack ? [1, 128] : [1],
    signal,
  })
  return code === 0
}
