/** Spans of time, in milliseconds. */

export const day = 24 * 60 * 60 * 1000
