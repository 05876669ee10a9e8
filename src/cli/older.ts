/** Compares versions of offshoot: whether one is older than another. Pure. */

/** By the three numbers; of two with the same, the one with a suffix (`1.2.0-rc.1`) is older. What is no version is oldest. */
export function isOlder(one: string, other: string): boolean {
  const [a, b] = [partsOf(one), partsOf(other)]
  const differing = a.numbers.findIndex((number, n) => number !== b.numbers[n])
  if (differing >= 0) return a.numbers[differing]! < b.numbers[differing]!
  return a.suffix !== '' && (b.suffix === '' || a.suffix < b.suffix)
}

function partsOf(version: string): { readonly numbers: readonly number[]; readonly suffix: string } {
  const [, major, minor, patch, suffix = ''] = /^(\d+)\.(\d+)\.(\d+)(?:-([^+]*))?/.exec(version) ?? []
  return { numbers: [major, minor, patch].map((text = '-1') => Number(text)), suffix }
}
