/** A user's checkout as it was when a run began, and what is different at its end (docs/adr/0046-the-checkout-is-compared.md). */
import type { BytePath } from './bytes.ts'
import type { Leaf } from './tree.ts'

/** A file that differed from the index, or was untracked, when the run began. */
export interface DirtyFile {
  /** Its whole stat as text; undefined: it was not there. */
  readonly look: string | undefined
  readonly permissions: number
  /** The bytes of a file, the target of a link; undefined for a special file, and for one that is too large to keep. */
  readonly content: Buffer | undefined
  readonly isLink: boolean
}

export interface CheckoutLook {
  readonly checkout: string
  readonly gitDir: string
  /** A copy of the index of that moment. */
  readonly index: string
  /** The commit that was checked out. */
  readonly head: string | undefined
  /** When it was looked at, in nanoseconds. */
  readonly at: bigint
  readonly dirty: ReadonlyMap<BytePath, DirtyFile>
}

/** One side of a change; null: there was no file. Without a leaf the content is not kept, and `text` describes it. */
export type CheckoutSide = { readonly leaf: Leaf | undefined; readonly text: string } | null

export interface CheckoutChange {
  readonly path: BytePath
  readonly from: CheckoutSide
  readonly to: CheckoutSide
}
