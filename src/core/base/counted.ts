/** Counts with their nouns, in messages. */

/** `1 file`, `2 files`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}

/** `step 3`, `steps 3 to 5`. */
export function stepsText([first, last]: readonly [number, number]): string {
  return first === last ? `step ${first}` : `steps ${first} to ${last}`
}
