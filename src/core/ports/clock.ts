/** The time that records carry and their age is judged by; a test hands in its own. */
export interface Clock {
  now(): Date
}
