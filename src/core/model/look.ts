/** The look of a file: the part of its stat that changes with every write. */

/** As `lstat` answers it with `bigint: true`. */
export interface Stat {
  readonly ino: bigint
  readonly mode: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

/** Two writes within one tick of the kernel's clock can leave the same look. */
export function lookOf({ mode, size, mtimeNs, ctimeNs, ino }: Stat): string {
  return [mode, size, mtimeNs, ctimeNs, ino].join(',')
}
