/** One place that sets settings, and errors that name it. */
import { AppError } from '../core/model/errors.ts'

interface Position {
  readonly line: number
  readonly column: number
}

/** The unchecked settings of one place: nested as in a file, or with dotted keys. */
export interface Layer {
  /** The place as a user would name it: a file, a variable, `flag`. */
  readonly origin: string
  readonly tree: object
  /** Set if the place is a file. */
  readonly path?: string
  readonly locate?: (key: string) => Position | undefined
}

/** `badSettings` about a whole file. */
export function badFile(path: string, problem: string, at?: Position, cause?: unknown): AppError {
  return new AppError('badSettings', message(path, at, problem), {
    path,
    hint: `Correct the file ${path}.`,
    data: at && { ...at },
    cause,
  })
}

/** `badSettings` about one key. */
export function badKey(
  { origin, path, locate }: Layer,
  key: string,
  problem: string,
  hint = `Correct it in ${origin}, or remove it there.`,
): AppError {
  const at = locate?.(key)
  return new AppError('badSettings', message(origin, at, problem), { path, hint, data: { key, ...at } })
}

function message(origin: string, at: Position | undefined, problem: string): string {
  const place = at ? `${origin}:${at.line}:${at.column}` : origin
  return `${place}: ${problem}${problem.endsWith('?') ? '' : '.'}`
}
