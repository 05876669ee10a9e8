/** ADR 2, ADR 16: what a command loads before it begins. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const dist = path.resolve(import.meta.dirname, '../../dist')

/** A built file, and all that it cannot do without. */
function closure(file: string, found = new Map<string, string>()): Map<string, string> {
  if (found.has(file)) return found
  const code = readFileSync(file, 'utf8')
  found.set(file, code)
  for (const [, from = ''] of code.matchAll(/^(?:import|export) [^;]*?from "(\.[^"]+)";$/gm))
    closure(path.join(path.dirname(file), from), found)
  return found
}

/** A built file by how its name begins. */
function imported(code: string, name: string): string {
  const [, file] = new RegExp(`import\\("\\./(${name}-[^"]+)"\\)`).exec(code) ?? []
  if (file === undefined) throw new Error(`nothing loads ${name}`)
  return path.join(dist, 'chunks', file)
}

const front = closure(path.join(dist, 'cli/main.js'))
const whole = [...front.values()].join('\n')

test('I8: list and its door are one file, and no schema is on the way of any command', () => {
  expect([...front.keys()].map((file) => path.basename(file).split('-')[0])).toEqual([
    'main.js',
    'front',
    'rolldown',
  ])
  expect(whole).toContain('Land the work of a task')
  expect(whole).not.toContain('$ZodType')
  // The daemon, and what the daemon alone needs.
  expect(whole).not.toMatch(/the Host is not ours|pino/)
  const start = closure(imported(whole, 'start'))
  expect([...start.values()].join('\n')).not.toContain('$ZodType')
})

test('I8: the check itself knows a schema when it sees one', () => {
  const start = [...closure(imported(whole, 'start')).values()].join('\n')
  expect([...closure(imported(start, 'schema')).values()].join('\n')).toContain('$ZodType')
})
