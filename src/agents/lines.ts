/** Lines and JSON values from text that arrives in chunks. */
/** Splits chunks into lines; `end` passes on an unfinished last line. */
function lines(onLine: (line: string) => void): { add(text: string): void; end(): void } {
  let rest = ''
  return {
    add(text) {
      const parts = (rest + text).split('\n')
      rest = parts.pop() ?? ''
      for (const line of parts) onLine(line)
    },
    end() {
      if (rest !== '') onLine(rest)
      rest = ''
    },
  }
}

/** Reads one JSON value per line, and skips lines that are not JSON: other programs may print, too. */
export function jsonLines(onValue: (value: Record<string, unknown>) => void) {
  return lines((line) => {
    const value = parseJson(line)
    if (typeof value === 'object' && value !== null) onValue(value as Record<string, unknown>)
  })
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
