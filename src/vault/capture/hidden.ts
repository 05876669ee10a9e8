/** Files that the flag assume-unchanged hides from git. */
import { splitNul } from '../../core/model/bytes.ts'
import { AppError } from '../../core/model/errors.ts'
import type { GitExec } from '../../git/exec.ts'

/** The answer of a git that worked on an index. */
export type Git = Awaited<ReturnType<GitExec>>

/** Clears assume-unchanged: the flag would hide from git the changes that we make to the file. */
export async function showHidden(
  git: (call: { readonly args: readonly string[]; readonly stdin?: Buffer }) => Promise<Git>,
): Promise<void> {
  const listed = await git({ args: ['ls-files', '-v', '-z'] })
  const hidden = splitNul(listed.stdout).flatMap((line) => (/^[a-z]/.test(line) ? [line.slice(2)] : []))
  if (hidden.length === 0) return
  const stdin = Buffer.from(hidden.map((file) => `${file}\0`).join(''), 'latin1')
  requireDone(await git({ args: ['update-index', '--no-assume-unchanged', '-z', '--stdin'], stdin }))
}

export function requireDone({ code, stderr }: Git): void {
  if (code !== 0) throw new AppError('failed', `The index could not be made: ${stderr.trim()}`)
}
