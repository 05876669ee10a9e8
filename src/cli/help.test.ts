import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { commands } from './commands.ts'
import { groups } from '../actions/action.ts'
import { commandHelp, overview } from './help.ts'

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

test('I1: docs/commands.md says of the options of every command what --help says', () => {
  const [, block] = /^## Options of every command\n\n```\n([\s\S]*?)\n```$/m.exec(docs) ?? []
  expect(overview(commands)).toContain(`Options of every command:\n${block}\n\n`)
})

test('I1: --help lists each verb once, in five groups', () => {
  const lines = overview(commands).split('\n')
  const titles = Object.values(groups).map((title) => `${title}:`)
  expect(lines.filter((line) => titles.includes(line))).toEqual(titles)
  for (const { name, aliasOf } of commands)
    expect({ name, times: lines.filter((line) => line.startsWith(`  ${name}  `)).length }).toEqual({
      name,
      times: aliasOf === undefined ? 1 : 0,
    })
  expect(lines).toContain('worktree create, show, prune: the same as start, show, prune')
})
