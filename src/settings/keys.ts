/** The closed list of settings, taken from the defaults, and the names of their variables. */
import { defaultSettings, type Settings } from '../core/model/settings.ts'
import { nearest } from '../core/base/did-you-mean.ts'

type Leaf = string | number | boolean | readonly unknown[]

type Keys<T> = {
  [K in keyof T & string]: T[K] extends Leaf ? K : `${K}.${Keys<T[K]>}`
}[keyof T & string]

type Value<T, K extends string> = K extends keyof T
  ? T[K]
  : K extends `${infer Group}.${infer Rest}`
    ? Group extends keyof T
      ? Value<T[Group], Rest>
      : never
    : never

type PartialTree<T> = {
  readonly [K in keyof T]?: (T[K] extends Leaf ? T[K] : PartialTree<T[K]>) | undefined
}

/** `enabled`, `limits.perRepo`, … */
export type SettingKey = Keys<Settings>
export type SettingValue<K extends SettingKey> = Value<Settings, K>
export type SettingFlags = PartialTree<Settings>

export const isTree = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const leaves = (tree: object, prefix = ''): [string, unknown][] =>
  Object.entries(tree).flatMap(([name, value]) =>
    isTree(value) ? leaves(value, `${prefix}${name}.`) : [[prefix + name, value]],
  )

export const defaults = new Map(leaves(defaultSettings) as [SettingKey, unknown][])

export const isSettingKey = (key: string): key is SettingKey => (defaults as Map<string, unknown>).has(key)

/** The settings below `group`; empty when there is no such group. */
export const members = (group: string) => [...defaults.keys()].filter((key) => key.startsWith(`${group}.`))

/** `limits.perRepo` → `OFFSHOOT_LIMITS_PER_REPO`. */
export const variable = (key: SettingKey) =>
  `OFFSHOOT_${key
    .replaceAll('.', '_')
    .replace(/[A-Z]/g, (letter) => `_${letter}`)
    .toUpperCase()}`

const prefix = 'OFFSHOOT_'

/** Similarity is measured without the prefix that all names share. */
const withoutPrefix = (name: string) => name.slice(prefix.length)

/**
 * Variables that are no settings: the state folder, the variables of runs, hooks and notifications, and those that the launcher sets.
 */
const reserved =
  'HOME DISABLED HANDED_OVER RUN TASK WORKSPACE SLUG PORT HOOK BRANCH BASE REPO CHECKOUT EVENT STATE MESSAGE'
    .split(' ')
    .map((name) => prefix + name)
const reservedPattern = /^OFFSHOOT_(?:PORT_\d+|INTERNAL_.*)$/

/** `OFFSHOOT_*` variables that we do not know, each with the variable that the user probably meant. */
export function unknownVariables(
  env: Record<string, string | undefined>,
): { name: string; nearest: string | undefined }[] {
  const settings = [...defaults.keys()].map(variable)
  const known = new Set([...settings, ...reserved])
  const settable = [...settings, 'OFFSHOOT_HOME', 'OFFSHOOT_DISABLED'].map(withoutPrefix)
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && !known.has(name) && !reservedPattern.test(name))
    .map((name) => {
      const meant = nearest(withoutPrefix(name), settable)
      return { name, nearest: meant && prefix + meant }
    })
}
