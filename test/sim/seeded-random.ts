/** Chance that is the same for the same seed, on every machine. */
export class SeededRandom {
  #state: number

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1)
  }

  /** From 0 up to, but not including, 1. */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  below(limit: number): number {
    return Math.floor(this.#next() * limit)
  }

  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  chance(of: number): boolean {
    return this.#next() < of
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }

  /** One of the names, each as often as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][]
    let left = this.#next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [name, weight] of entries) {
      left -= weight
      if (left < 0) return name
    }
    return entries[0]![0]
  }
}
