/** The time, for the dates in records and for their age; implemented by src/compose, and by tests that set the time. */
export interface Clock {
  now(): Date
}
