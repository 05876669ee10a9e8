import { AppError } from './errors.ts'
import type { Conflict } from './ports.ts'

export function conflictError(conflicts: readonly Conflict[]): AppError {
  const named = conflicts.slice(0, 5).map(({ path: file, kind }) => `${file} (${kind})`)
  const more = conflicts.length > 5 ? ` and ${conflicts.length - 5} more` : ''
  return new AppError('WT_011', `Conflict in ${named.join(', ')}${more}. Nothing was written.`, {
    hint: 'offshoot update brings the target into the workspace, to be solved there; --conflicts markers writes them here.',
    data: { conflicts },
  })
}
