/** What step n consists of, beside what was there before: files that change, one of which git converts, and a new one. */
export function stepContent(n: number): Record<string, string> {
  return {
    'changing.txt': `${n}\n`.repeat(n * 40),
    'changing.crlf': `${n}\r\n`.repeat(n * 4),
    [`new-${n}.txt`]: `only ${n}\n`,
  }
}

/** What the nth task changes: nothing that another one does. */
export function landedContent(n: number): Record<string, string> {
  return { [`base-${n}.txt`]: `changed by ${n}\n`, [`landed-${n}.txt`]: `${n}\n`.repeat(n * 40) }
}
