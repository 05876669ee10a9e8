/** The mark of a repository: a ref to a blob with its id. */
import type { Place } from '../core/model/repo.ts'
import { markRef } from '../core/model/refs.ts'
import type { GitExec } from './exec.ts'
import { findRef } from './refs.ts'

export async function findRepoMark(exec: GitExec, place: Place, signal?: AbortSignal) {
  const blob = await findRef(exec, place, markRef, signal)
  if (blob === undefined) return undefined
  const args = ['cat-file', 'blob', blob]
  const { code, stdout } = await exec({
    args,
    gitDir: place.commonDir,
    cwd: place.commonDir,
    expect: [128],
    signal,
  })
  const id = stdout.toString().trim()
  return code === 0 && /^[0-9a-z]{20}$/.test(id) ? { id, blob } : undefined
}

export async function writeRepoMark(exec: GitExec, place: Place, id: string, signal?: AbortSignal) {
  const at = { gitDir: place.commonDir, cwd: place.commonDir, signal }
  const { stdout } = await exec({
    args: ['hash-object', '-w', '--stdin'],
    stdin: `${id}\n`,
    durable: true,
    ...at,
  })
  return stdout.toString().trim()
}
