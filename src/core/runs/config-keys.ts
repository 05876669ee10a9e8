/** Finds the keys of a git config that have changed, to tell them; their values may be secrets. Pure. */

/** The keys whose values differ, in the order of their names: `core.fsmonitor`, `remote.origin.url`. */
export function changedKeys(before: string, after: string): string[] {
  const [old, now] = [keysOf(before), keysOf(after)]
  const all = new Set([...old.keys(), ...now.keys()])
  return [...all].filter((key) => old.get(key) !== now.get(key)).toSorted()
}

function keysOf(text: string): Map<string, string> {
  const found = new Map<string, string>()
  let section = ''
  // A line that ends in a backslash goes on.
  for (const line of text.replace(/\\\r?\n/g, '').split(/\r?\n/)) {
    const [, name, sub, rest = line] =
      /^\s*\[([^\]\s"]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\](.*)$/.exec(line) ?? []
    if (name !== undefined) section = sub === undefined ? name.toLowerCase() : `${name.toLowerCase()}.${sub}`
    const [, key, value = ''] = /^\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$/.exec(rest) ?? []
    if (key === undefined) continue
    const full = `${section}.${key.toLowerCase()}`
    found.set(full, `${found.get(full) ?? ''}\n${value}`)
  }
  return found
}
