import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { commands } from './commands.ts'
import { commandHelp } from './help.ts'

const docs = readFileSync(path.resolve(import.meta.dirname, '../../docs/commands.md'), 'utf8')

/** The first block of each section, by the name of its command. */
const sections = new Map(
  [...docs.matchAll(/^### (.+)\n\n```\n([\s\S]*?)\n```$/gm)].map(([, name = '', block = '']) => [
    name,
    block,
  ]),
)

test('I1: docs/commands.md has every command, in order', () => {
  expect([...sections.keys()]).toEqual(commands.map(({ name }) => name))
})

test.each(commands)('I1: docs/commands.md says of $name what --help says', (command) => {
  const own = commandHelp(command).replace(/Options of every command:\n(?: .*\n)+\n/, '')
  expect(sections.get(command.name)).toBe(own.trimEnd())
})
