/** Texts compared with patterns in which a star stands for any text, in linear time: an agent may have written the text. */

/** Whether the text is these parts in this order, with anything, or nothing, between two of them. */
export function isMadeOf(parts: readonly string[], text: string): boolean {
  const [first = '', ...rest] = parts
  const last = rest.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return at <= text.length - last.length
}

/** `*` matches anything, also gaps and slashes; every other character itself. */
export const matchesStars = (pattern: string, text: string) => isMadeOf(pattern.split('*'), text)
