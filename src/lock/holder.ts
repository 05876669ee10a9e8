/** The note beside a lock that names its holder. */
import { rmSync } from 'node:fs'
import { readPlain, writePlain } from '../files/plain.ts'

export interface Holder {
  readonly pid: number
  readonly verb: string
  readonly since: string
}

const holderFile = (lock: string) => `${lock}.holder`

/** The note serves only the error message. It decides nothing, so a failure to write it is ignored. */
export function recordHolder(lock: string, holder: Holder): void {
  bestEffort(() => writePlain(holderFile(lock), JSON.stringify(holder)))
}

export function forgetHolder(lock: string): void {
  bestEffort(() => rmSync(holderFile(lock), { force: true }))
}

/** May name an earlier holder, if that was killed or the present holder has just begun. */
export function findHolder(lock: string): Holder | undefined {
  return bestEffort(() => JSON.parse(readPlain(holderFile(lock))) as Holder)
}

function bestEffort<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
