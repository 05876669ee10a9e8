/** From here on content is streamed by git instead of being held in memory. */
export const bigFile = 4 * 1024 * 1024

/** From here on files go one by one: several at once would need memory for all of them. */
export const heavyFile = 1024 * 1024
