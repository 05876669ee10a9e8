/**
 * Reads settings from all places: defaults, the repository's file, the user's file, variables and flags. zod and yaml
 * are loaded only if there is something to read (docs/adr/0002-no-argument-parser-no-zod-on-the-way.md).
 */
import { inspect } from 'node:util'
import type { SettingsSource } from '../core/ports/settings.ts'
import type { Settings } from '../core/model/settings.ts'
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
}

interface Setting {
  readonly key: string
  readonly value: unknown
  /** `default`, a file, the name of a variable, or `flag`. */
  readonly origin: string
}

/** Reads all places anew on each call. A mistake throws even if a later place overrules the value. */
export function settingsSource({ userFile, env, flags = {} }: SettingsOptions): SettingsSource {
  async function readWithOrigin(checkout: string | null): Promise<Setting[]> {
    const files = await Promise.all([
      checkout === null ? undefined : readRepoFile(checkout),
      readUserFile(userFile),
    ])
    const layers = [...files, ...variableLayers(env), { origin: 'flag', tree: flags }]
    const entries = layers.flatMap((layer) => (layer ? [...entriesOf(layer)] : []))
    const settings = new Map<string, Setting>()
    for (const [key, value] of defaults) settings.set(key, { key, value, origin: 'default' })
    for (const { key, value, origin } of await checkEntries(entries))
      settings.set(key, { key, value, origin })
    return [...settings.values()]
  }
  return {
    readWithOrigin,
    edit: async (text, values) => (await import('./edit.ts')).editSettings(text, values),
    parseToml: async (text) => (await import('./toml.ts')).parseToml(text),
    read: async (checkout) => nestSettings(await readWithOrigin(checkout)),
    readUnknownVariables: () => unknownVariables(env),
  }
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

async function checkEntries(entries: Entry[]): Promise<Setting[]> {
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
    throw badKey(layer, key, `\`${key}\` must be ${expected}; found ${inspectShort(value)}`)
  })
}

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
