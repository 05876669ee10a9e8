import { AppError } from '../core/errors.ts'
import type { Place } from '../core/ports.ts'
import type { GitExec } from './exec.ts'
import { changeRefs, findRef } from './refs.ts'

/** Holds the repository's id, so that it is known again after it was moved. */
export const markRef = 'refs/offshoot/repo'

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
  const blob = stdout.toString().trim()
  const old = (await findRef(exec, place, markRef, signal)) ?? null
  if (old === blob) return { blob }
  if (
    !(await changeRefs(
      exec,
      place,
      [{ ref: markRef, old, new: blob }],
      'offshoot: know this repository',
      signal,
    ))
  ) {
    throw new AppError('WT_012', 'Another process is taking this repository in.', { path: place.commonDir })
  }
  return { blob }
}
