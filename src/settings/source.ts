/**
 * Reads settings from all places: defaults, the repository's file, the user's file, variables and flags. zod and yaml
 * are loaded only if there is something to read (docs/adr/0002-no-argument-parser-no-zod-on-the-way.md).
 */
import { inspect } from 'node:util'
import type { CommandFlags, SettingsSource } from '../core/ports/settings.ts'
import type { RestrictedValue, Setting, Settings } from '../core/model/settings.ts'
import { readRepoFile, readUserFile } from './file.ts'
import {
  defaults,
  isSettingKey,
  isTree,
  members,
  type SettingFlags,
  type SettingKey,
  unknownVariables,
} from './keys.ts'
import { badKey, type Layer } from './layer.ts'
import { nearest } from '../core/base/did-you-mean.ts'
import { variableLayers } from './variables.ts'

export interface SettingsOptions {
  /** `~/.config/offshoot/config.yaml`, with `~` expanded. */
  readonly userFile: string
  readonly env: Record<string, string | undefined>
  readonly flags?: SettingFlags | undefined
  /** The state folder. */
  readonly home: string
  readonly userHome: string
  /** The checkout whose file counts for that one: a workspace has none of its own. */
  readonly findOwner: (checkout: string) => Promise<string>
  /** Whether the user trusts exactly these values of the file of that checkout. */
  readonly isTrusted: (checkout: string, values: readonly RestrictedValue[]) => Promise<boolean>
}

/** Reads all places anew on each call. A mistake throws even if a later place overrules the value. */
export function settingsSource(options: SettingsOptions): SettingsSource {
  const { userFile, env, flags = {} } = options
  // Without records nobody can tell whose workspace it is, and nothing is trusted.
  const findOwner = (checkout: string) => options.findOwner(checkout).catch(() => checkout)

  async function readOwn(checkout: string | null): Promise<OwnValue[]> {
    const owner = checkout === null ? null : await findOwner(checkout)
    const layer = owner === null ? undefined : await readRepoFile(owner)
    if (owner === null || !layer) return []
    const checked = await checkEntries([...entriesOf(layer)])
    const { isRestricted, outOfBounds } = await import('./repository.ts')
    const restricted = checked.filter(({ key, value }) => isRestricted(key, value))
    for (const { key, value } of checked) {
      const wrong = outOfBounds(key, value, { ...options, checkout: owner })
      if (wrong) throw badKey(layer, key, mustBe(key, wrong.expected, value), wrong.hint)
    }
    const isTrusted =
      restricted.length > 0 && (await options.isTrusted(owner, pairs(restricted)).catch(() => false))
    return checked.map((one) => ({
      ...one,
      isRestricted: restricted.includes(one),
      waits: restricted.includes(one) && !isTrusted,
    }))
  }

  async function readWithOrigin(checkout: string | null, more: CommandFlags = {}): Promise<Setting[]> {
    const [own, users] = await Promise.all([readOwn(checkout), readUserFile(userFile)])
    const flagged = [flags, more].map((tree) => ({ origin: 'flag', tree }))
    const layers = [...(users ? [users] : []), ...variableLayers(env), ...flagged]
    const later = await checkEntries(layers.flatMap((layer) => [...entriesOf(layer)]))
    return joined(own, later)
  }
  return {
    readWithOrigin: (checkout) => readWithOrigin(checkout),
    readRestricted: async (checkout) =>
      pairs((await readOwn(checkout)).filter(({ isRestricted }) => isRestricted)),
    edit: async (text, values) => (await import('./edit.ts')).editSettings(text, values),
    parseToml: async (text) => (await import('./toml.ts')).parseToml(text),
    read: async (checkout, more) => nestSettings(await readWithOrigin(checkout, more)),
    readUnknownVariables: () => unknownVariables(env),
  }
}

const pairs = (values: readonly CheckedValue[]): RestrictedValue[] =>
  values.map(({ key, value }) => ({ key, value }))

interface CheckedValue {
  readonly key: SettingKey
  readonly value: unknown
  readonly origin: string
}

/** A value of the repository's own file. */
interface OwnValue extends CheckedValue {
  readonly isRestricted: boolean
  readonly waits: boolean
}

/** The repository's file counts over the defaults, and every later place over both. Pure. */
function joined(own: readonly OwnValue[], later: readonly CheckedValue[]): Setting[] {
  const settings = new Map<string, Setting>()
  for (const [key, value] of defaults) settings.set(key, { key, value, origin: 'default', isForeign: false })
  for (const { key, value, origin, waits } of own) {
    const before = settings.get(key)
    settings.set(
      key,
      waits && before ? { ...before, waiting: value } : { key, value, origin, isForeign: true },
    )
  }
  for (const { key, value, origin } of later) settings.set(key, { key, value, origin, isForeign: false })
  const denied = own.find(({ key }) => key === 'policy.denied')
  const counting = settings.get('policy.denied')
  if (denied && counting && !counting.isForeign) settings.set('policy.denied', withDenied(counting, denied))
  return [...settings.values()]
}

/** A repository can deny tools, and nobody's list takes that back: it only makes the policy stricter. */
function withDenied(counting: Setting, denied: CheckedValue): Setting {
  const tools = [denied.value, counting.value].flat()
  return { ...counting, value: [...new Set(tools)], origin: `${denied.origin}, ${counting.origin}` }
}

interface Entry {
  readonly key: SettingKey
  readonly value: unknown
  readonly layer: Layer
}

/** The values that a layer sets, with dotted keys. Throws for a key that is no setting. */
function* entriesOf(layer: Layer, tree = layer.tree, prefix = ''): Generator<Entry> {
  for (const [name, value] of Object.entries(tree)) {
    const key = prefix + name
    const group = members(key)
    if (value === undefined) continue
    if (isSettingKey(key)) {
      yield { key, value, layer }
    } else if (group.length === 0) {
      const known = [...defaults.keys()]
      const meant = nearest(key, [...known, ...known.map((other) => other.split('.')[0]!)])
      throw badKey(layer, key, `unknown key ${quoteKey(key)}${meant ? `; did you mean \`${meant}\`?` : ''}`)
    } else if (isTree(value)) {
      yield* entriesOf(layer, value, `${key}.`)
    } else if (value !== null) {
      // A group whose lines are all commented out is null, and sets nothing.
      throw badKey(
        layer,
        key,
        `\`${key}\` must be a mapping of settings (${group.join(', ')}); found ${inspectShort(value)}`,
      )
    }
  }
}

async function checkEntries(entries: Entry[]): Promise<CheckedValue[]> {
  if (entries.length === 0) return []
  const twice = entries.find(
    ({ key, layer }, index) =>
      entries.findIndex((other) => other.layer === layer && other.key === key) < index,
  )
  if (twice) throw badKey(twice.layer, twice.key, `\`${twice.key}\` is set twice`)
  const { rules } = await import('./schema.ts')
  return entries.map(({ key, value, layer }) => {
    const result = rules[key].safeParse(value)
    if (result.success) return { key, value: result.data, origin: layer.origin }
    const expected = result.error.issues[0]!.message
    throw badKey(layer, key, mustBe(key, expected, value))
  })
}

const mustBe = (key: string, expected: string, value: unknown) =>
  `\`${key}\` must be ${expected}; found ${inspectShort(value)}`

const inspectShort = (value: unknown) =>
  inspect(value, { depth: 0, breakLength: Infinity, maxStringLength: 60, maxArrayLength: 5 })

/** Shows a key as it is; if a stranger put control characters into it, they are escaped. */
const quoteKey = (key: string) => (/^[\w.-]{1,60}$/.test(key) ? `\`${key}\`` : inspectShort(key))

function nestSettings(settings: Setting[]): Settings {
  const root: Record<string, unknown> = {}
  for (const { key, value } of settings) {
    const groups = key.split('.')
    const name = groups.pop()!
    let tree = root
    for (const group of groups) tree = (tree[group] ??= {}) as Record<string, unknown>
    tree[name] = value
  }
  // Every key has its default, and the rules answer the types of Settings.
  return root as unknown as Settings
}
