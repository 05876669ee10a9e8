/** Sizes from which files are handled with less memory. */
/** From this size on git streams a content; we do not hold it in memory. */
export const bigFile = 4 * 1024 * 1024

/**
 * A larger file is in no step: git would read all of it for every look, and one call makes a file of a terabyte without
 * a byte of data (docs/adr/0041-limits-and-deadlines.md).
 */
export const largestFile = 4 * 1024 ** 3

/** From this size on files are handled one by one: several at once would need memory for all of them. */
export const heavyFile = 1024 * 1024
