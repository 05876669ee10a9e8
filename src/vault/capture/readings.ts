/** Contents of checkout files that were already read: a file with the same stat is not read again. */
import type { BigIntStats } from 'node:fs'
import type { Leaf } from '../objects/tree.ts'
import { settledLook } from './overlay.ts'

interface Reading {
  readonly leaf: Leaf
  readonly stat: BigIntStats
}

export interface Readings {
  find(file: string, stat: BigIntStats): Leaf | undefined
  note(file: string, reading: Reading): void
}

const maxKept = 10_000

export function readings(): Readings {
  const known = new Map<string, { readonly leaf: Leaf; readonly look: string }>()
  const nowNs = () => BigInt(Date.now()) * 1_000_000n
  return {
    find(file, stat) {
      const found = known.get(file)
      return found?.look === settledLook(stat, nowNs()) ? found?.leaf : undefined
    },
    note(file, { leaf, stat }) {
      const look = settledLook(stat, nowNs())
      known.delete(file)
      if (look === undefined) return
      if (known.size >= maxKept) known.delete(known.keys().next().value ?? '')
      known.set(file, { leaf, look })
    },
  }
}
