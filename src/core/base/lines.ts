/** Lines from text that arrives in chunks. */

/** No line that we wait for is longer: the largest hold the content of one file. */
export const longestLine = 16 * 1024 * 1024

export interface Lines {
  add(text: string): void
  /** Passes on an unfinished last line. */
  end(): void
}

/** Splits chunks into lines, in time linear to their length. A line beyond `longestLine` is left out, and told. */
export function lines(onLine: (line: string) => void, onTooLong: (length: number) => void = () => {}): Lines {
  let parts: string[] = []
  let length = 0
  const keep = (part: string) => {
    length += part.length
    if (length > longestLine) parts = []
    else if (part !== '') parts.push(part)
  }
  const flush = () => {
    const [line, size] = [parts.join(''), length]
    parts = []
    length = 0
    if (size > longestLine) onTooLong(size)
    else onLine(line)
  }
  return {
    add(text) {
      let from = 0
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
        keep(text.slice(from, end))
        flush()
        from = end + 1
      }
      keep(text.slice(from))
    },
    end() {
      if (length > 0) flush()
    },
  }
}
