/** Settings from every place that has a say: defaults, the repository's file, the user's, variables, flags. */
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
  /** `~/.config/offshoot/config.yaml`, with the home folder filled in. */
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

/** Reads anew on each call. A mistake counts even where a later place overrules it. */
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
    for (const { key, value, origin } of await checked(entries)) settings.set(key, { key, value, origin })
    return [...settings.values()]
  }
  return {
    readWithOrigin,
    edit: async (text, values) => (await import('./edit.ts')).edited(text, values),
    parseToml: async (text) => (await import('./toml.ts')).parsedToml(text),
    read: async (checkout) => nested(await readWithOrigin(checkout)),
    readUnknownVariables: () => unknownVariables(env),
  }
}

interface Entry {
  readonly key: SettingKey
  readonly value: unknown
  readonly layer: Layer
}

/** What a layer sets, with the groups written out. Throws for what is no setting. */
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
      throw badKey(layer, key, `unknown key ${quoted(key)}${meant ? `; did you mean \`${meant}\`?` : ''}`)
    } else if (isTree(value)) {
      yield* entriesOf(layer, value, `${key}.`)
    } else if (value !== null) {
      // Nothing at all is what remains of a group when all its lines are commented out.
      throw badKey(
        layer,
        key,
        `\`${key}\` must hold settings by name (${group.join(', ')}); found ${shown(value)}`,
      )
    }
  }
}

async function checked(entries: Entry[]): Promise<Setting[]> {
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
    throw badKey(layer, key, `\`${key}\` must be ${expected}; found ${shown(value)}`)
  })
}

const shown = (value: unknown) =>
  inspect(value, { depth: 0, breakLength: Infinity, maxStringLength: 60, maxArrayLength: 5 })

/** A key of ours as it is; one that a stranger wrote with its control characters made visible. */
const quoted = (key: string) => (/^[\w.-]{1,60}$/.test(key) ? `\`${key}\`` : shown(key))

function nested(settings: Setting[]): Settings {
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
