import { defaults, variable } from './keys.ts'
import type { Layer } from './layer.ts'

const words = new Map([
  ...['1', 'true', 'yes'].map((word) => [word, true] as const),
  ...['0', 'false', 'no'].map((word) => [word, false] as const),
])

/** The text as the type that the setting has; text that does not fit stays as it is, for the rule to refuse. */
function typed(text: string, like: unknown): unknown {
  if (typeof like === 'boolean') return words.get(text.toLowerCase()) ?? text
  if (typeof like === 'number') return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
  if (Array.isArray(like)) return text.split(',').map((item) => item.trim())
  return text
}

/** One layer for each variable that is set; an empty one counts as not set. */
export function variableLayers(env: Record<string, string | undefined>): Layer[] {
  const layers = [...defaults].flatMap(([key, like]) => {
    const origin = variable(key)
    const text = env[origin]
    return text ? [{ origin, tree: { [key]: typed(text, like) } }] : []
  })
  // The off switch comes last, so that nothing in the environment overrules it; saying no to it says nothing.
  const off = typed(env.OFFSHOOT_DISABLED || '0', true)
  return off === false
    ? layers
    : [...layers, { origin: 'OFFSHOOT_DISABLED', tree: { enabled: off === true ? false : off } }]
}
