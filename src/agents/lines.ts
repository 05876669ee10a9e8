/** Cuts text that comes in pieces into lines; the rest comes when it is asked for. */
function lines(take: (line: string) => void): { add(text: string): void; end(): void } {
  let rest = ''
  return {
    add(text) {
      const parts = (rest + text).split('\n')
      rest = parts.pop() ?? ''
      for (const line of parts) take(line)
    },
    end() {
      if (rest !== '') take(rest)
      rest = ''
    },
  }
}

/** One JSON value per line; a line that is none is somebody else's, and left out. */
export function jsonLines(take: (value: Record<string, unknown>) => void) {
  return lines((line) => {
    const value = parsed(line)
    if (typeof value === 'object' && value !== null) take(value as Record<string, unknown>)
  })
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
