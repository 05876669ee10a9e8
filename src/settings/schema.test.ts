/** The schema of the settings, and the variables that set them. */
import { readFileSync } from 'node:fs'
import { describe, expect, expectTypeOf, test } from 'vitest'
import type * as z from 'zod'
import { defaults, type SettingKey, type SettingValue, unknownVariables, variable } from './keys.ts'
import { repositoryMay } from './repository.ts'
import { rules } from './schema.ts'

const docs = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8')
const rows = (table: string) => [...table.matchAll(/^\| .*`.*$/gm)].map(([row]) => row)
const [settingRows, otherToolRows] = docs.split('## Coming from another tool').map(rows) as [
  string[],
  string[],
]

describe('the schema', () => {
  test('answers exactly the types of Settings', () => {
    expectTypeOf<{ [K in SettingKey]: z.output<(typeof rules)[K]> }>().toEqualTypeOf<{
      [K in SettingKey]: SettingValue<K>
    }>()
  })

  test.each([...defaults])('%s: the default is allowed, and the rule says what else is', (key, value) => {
    expect(rules[key].parse(value)).toStrictEqual(value)
    expect(rules[key].description).toBeTruthy()
    expect(rules[key].safeParse(Symbol('no setting')).error?.issues[0]?.message).not.toMatch(/^Invalid/)
  })

  test.each(['ai/session-{id8}', 'supervisor/{task}', 'acode-task-{task}', 'kandev/{task}', '{task}'])(
    'L3: branches may be called %s',
    (name) => expect(rules['branch.name'].safeParse(name).success).toBe(true),
  )

  test.each([
    'fixed',
    '{task}/{date}',
    '{tusk}-{task}',
    '{task}{',
    '-{task}',
    '/{task}',
    '{task}/',
    '{task}.lock',
    '{task}.lock/a',
    'a..{task}',
    'a//{task}',
    'a/.{task}',
    'a b/{task}',
    'a\u0007/{task}',
    '@{{task}',
  ])('L3: branches may not be called %j', (name) =>
    expect(rules['branch.name'].safeParse(name).success).toBe(false),
  )

  test('L3: a folder is called by its task', () => {
    const isGood = (name: string) => rules['workspace.name'].safeParse(name).success
    expect(['{task}', '{repo} {task}-{date}-{time}-{id8}'].filter(isGood)).toHaveLength(2)
    expect(
      ['', '{id8}', '../{task}', 'a/{task}', 'a\\{task}', '{task}{slug}', '{task}\n'].filter(isGood),
    ).toEqual([])
  })
})

test('unknown variables are told with the setting that was probably meant; reserved ones are not, and are never meant', () => {
  const known = [...[...defaults.keys()].map(variable), 'OFFSHOOT_HOME', 'OFFSHOOT_DISABLED', 'OFFSHOOT_PORT']
  const names = [
    ...known,
    'OFFSHOOT_PORT_2',
    'OFFSHOOT_INTERNAL_X',
    'OFFSHOOT_HANDED_OVER',
    'HOME',
    'XOFFSHOOT_A',
  ]
  const wrong = [
    'OFFSHOOT_LIMIT_PERREPO',
    'OFFSHOOT_DISABLE',
    'OFFSHOOT_PORT_X',
    'OFFSHOOT_HOOKS',
    'OFFSHOOT_HOMES',
    'OFFSHOOT_QUITE_SOMETHING_ELSE',
  ]
  expect(unknownVariables(Object.fromEntries([...names, ...wrong].map((name) => [name, '1'])))).toEqual([
    { name: 'OFFSHOOT_LIMIT_PERREPO', nearest: 'OFFSHOOT_LIMITS_PER_REPO' },
    { name: 'OFFSHOOT_DISABLE', nearest: 'OFFSHOOT_DISABLED' },
    { name: 'OFFSHOOT_PORT_X', nearest: undefined },
    { name: 'OFFSHOOT_HOOKS', nearest: undefined },
    { name: 'OFFSHOOT_HOMES', nearest: 'OFFSHOOT_HOME' },
    { name: 'OFFSHOOT_QUITE_SOMETHING_ELSE', nearest: undefined },
  ])
})

describe('docs/settings.md', () => {
  test('lists every setting with its default, its variable, what a repository’s file may do, and its meaning', () => {
    const expected = [...defaults].map(([key, value]) => {
      const shown = String(value) === '' ? '(empty)' : `\`${String(value)}\``
      const { may } = repositoryMay(key)
      return `| \`${key}\` | ${shown} | \`${variable(key)}\` | ${may} | ${rules[key].description} |`
    })
    expect(settingRows).toEqual(expected)
  })

  test.each(otherToolRows)('names a setting that exists: %s', (row) => {
    const here = row.split('|')[2]?.match(/`([\w.]+)/)?.[1]
    expect([...defaults.keys()]).toContain(here)
  })
})
