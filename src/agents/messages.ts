/** The messages of an agent: those of the right form are passed on, the others are told. */
import type { Push } from './events.ts'
import { Misshapen, type Shape, type Shaped, shaped } from './shape.ts'

/** Reads a message of that shape. What cannot be read becomes an event, not a crash. */
export function messages<const S extends Shape>(
  shape: S,
  push: Push,
  onMessage: (message: Shaped<S>) => void,
): (raw: object) => void {
  return (raw) => {
    try {
      onMessage(shaped(shape, raw, 'message'))
    } catch (error) {
      if (!(error instanceof Misshapen)) throw error
      push({ type: 'malformed', reason: error.message })
    }
  }
}
