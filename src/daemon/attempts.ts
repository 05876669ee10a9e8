/** Counts wrong tokens, so that nobody can try many (docs/adr/0060-one-guard.md). */

/** So many may be wrong within the window, for each id. */
const most = 20
const windowMs = 60_000

export interface Attempts {
  note(id: string): void
  /** The ids for which no further token is looked at. */
  limited(): ReadonlySet<string>
}

export function openAttempts(now: () => number): Attempts {
  const times = new Map<string, number[]>()
  const recent = (id: string) => (times.get(id) ?? []).filter((time) => time > now() - windowMs)
  return {
    note(id) {
      times.set(id, [...recent(id), now()].slice(-most))
    },
    limited() {
      const full = new Set<string>()
      for (const id of times.keys()) {
        const left = recent(id)
        if (left.length === 0) times.delete(id)
        else if (left.length >= most) full.add(id)
      }
      return full
    },
  }
}
