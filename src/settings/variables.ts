/** Settings from environment variables. */
import { defaults, variable } from './keys.ts'
import type { Layer } from './layer.ts'

const booleans = new Map([
  ...['1', 'true', 'yes'].map((word) => [word, true] as const),
  ...['0', 'false', 'no'].map((word) => [word, false] as const),
])

/** Converts the text to the type of the setting; a text that does not fit stays a string, and the rule refuses it. */
function convertText(text: string, like: unknown): unknown {
  if (typeof like === 'boolean') return booleans.get(text.toLowerCase()) ?? text
  if (typeof like === 'number') return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
  if (Array.isArray(like)) return text.split(',').map((item) => item.trim())
  return text
}

/** One layer per variable that is set; an empty variable counts as not set. */
export function variableLayers(env: Record<string, string | undefined>): Layer[] {
  const layers = [...defaults].flatMap(([key, like]) => {
    const origin = variable(key)
    const text = env[origin]
    return text ? [{ origin, tree: { [key]: convertText(text, like) } }] : []
  })
  // OFFSHOOT_DISABLED comes last, so that no other variable overrules it. Setting it to no changes nothing.
  const off = convertText(env.OFFSHOOT_DISABLED || '0', true)
  return off === false
    ? layers
    : [...layers, { origin: 'OFFSHOOT_DISABLED', tree: { enabled: off === true ? false : off } }]
}
