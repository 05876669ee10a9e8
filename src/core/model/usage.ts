/** What a run takes: tokens and money as far as its agent tells, and how the runs of a conversation share its totals. Pure. */

export interface Usage {
  /** Tokens that the model was given, cached ones included. */
  readonly inputTokens: number
  readonly outputTokens: number
  /** Those of the input tokens that the model's server still had. */
  readonly cachedTokens?: number | undefined
  /** US dollars, as the agent counts them. */
  readonly costUsd?: number | undefined
}

const fields = ['inputTokens', 'outputTokens', 'cachedTokens', 'costUsd'] as const
type Field = (typeof fields)[number]

/** What an agent tells of its use since it last did. `totals`: fields that count the whole conversation, earlier runs included. */
export interface UsageTold extends Usage {
  readonly totals?: readonly Field[] | undefined
}

/** What a conversation had used when its agent last told it. */
export type Totals = { readonly [F in Field]?: number | undefined }

/** How a run counts: what it has used so far, and the totals of its conversation. */
export interface UsageCount {
  used: Usage | undefined
  totals: Totals
}

/** What was used since these totals, and the totals from now on. Values that no count can have are 0: any program may be an agent. */
export function usedSince(
  totals: Totals,
  told: UsageTold,
): { readonly used: Usage; readonly totals: Totals } {
  const isTotal = (field: Field) => told.totals?.includes(field)
  const values = fields.flatMap((field) =>
    told[field] === undefined ? [] : [[field, sound(told[field])] as const],
  )
  const used = values.map(([field, value]) => {
    const before = isTotal(field) ? (totals[field] ?? 0) : 0
    // A total that is lower than before began anew.
    return [field, rounded(value >= before ? value - before : value)]
  })
  const later = values.filter(([field]) => isTotal(field))
  return {
    used: { inputTokens: 0, outputTokens: 0, ...Object.fromEntries(used) },
    totals: { ...totals, ...Object.fromEntries(later) },
  }
}

const sound = (value: unknown) => (typeof value === 'number' && value > 0 && value < 1e15 ? value : 0)

/** Dollars are no binary fractions. */
const rounded = (value: number) => Math.round(value * 1e9) / 1e9

/** The sum; a field that neither has stays away. */
export function plus(one: Partial<Usage> | undefined, other: Partial<Usage>): Usage {
  const sum = fields.flatMap((field) => {
    const values = [one?.[field], other[field]].filter((value) => value !== undefined)
    return values.length > 0 ? [[field, rounded(values.reduce((all, value) => all + value, 0))]] : []
  })
  return { inputTokens: 0, outputTokens: 0, ...Object.fromEntries(sum) }
}
