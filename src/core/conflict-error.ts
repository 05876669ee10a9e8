import { AppError } from './errors.ts'
import type { Conflict } from './ports.ts'

/** The hint says the way out of it, which depends on the verb. */
export function conflictError(conflicts: readonly Conflict[], hint?: string): AppError {
  const named = conflicts.slice(0, 5).map(({ path: file, kind }) => `${file} (${kind})`)
  const more = conflicts.length > 5 ? ` and ${conflicts.length - 5} more` : ''
  return new AppError('WT_011', `Conflict in ${named.join(', ')}${more}. Nothing was written.`, {
    hint,
    data: { conflicts },
  })
}
