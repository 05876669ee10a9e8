/** JSON values from the output of an agent, one per line. */
import { type Lines, lines, longestLine } from '../core/base/lines.ts'
import type { Push } from './events.ts'

/** Reads one JSON value per line, and skips lines that are not JSON: other programs may print, too. */
export function jsonLines(onValue: (value: object) => void, push: Push): Lines {
  return lines(
    (line) => {
      const value = parseJson(line)
      if (typeof value === 'object' && value !== null) onValue(value)
    },
    () => push({ type: 'malformed', reason: `a line of more than ${longestLine} characters was left out` }),
  )
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
