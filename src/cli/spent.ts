/** Words for what runs take: time, tokens and money. */
import type { Usage } from '../core/model/usage.ts'

export type Spent = { readonly seconds?: number | undefined } & Partial<Usage>

/** `1 min 5 s, 12,345 tokens in (9,000 cached), 678 out, $0.04`; what nobody told is left out. */
export function spentText({
  seconds,
  inputTokens = 0,
  outputTokens = 0,
  cachedTokens = 0,
  costUsd,
}: Spent): string {
  const cached = cachedTokens > 0 ? ` (${grouped(cachedTokens)} cached)` : ''
  const hasTokens = inputTokens + outputTokens > 0
  const parts = [
    ...(seconds === undefined ? [] : [durationText(seconds)]),
    ...(hasTokens
      ? [
          `${grouped(inputTokens)} ${inputTokens === 1 ? 'token' : 'tokens'} in${cached}`,
          `${grouped(outputTokens)} out`,
        ]
      : []),
    ...(costUsd === undefined ? [] : [costText(costUsd)]),
  ]
  return parts.join(', ')
}

/** `12 s`, `1 min 5 s`, `2 h 3 min`. */
export function durationText(seconds: number): string {
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes} min ${whole % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** In and out together, for a column or a line that has little space: `13k`; empty when nobody told any. */
export function tokensText({ inputTokens = 0, outputTokens = 0 }: Partial<Usage>): string {
  const all = inputTokens + outputTokens
  if (all === 0) return ''
  if (all < 10_000) return grouped(all)
  return all < 1_000_000 ? `${Math.round(all / 1000)}k` : `${(all / 1_000_000).toFixed(1)}M`
}

/** Less than ten cents are shown to the hundredth of a cent. */
export function costText(dollars: number): string {
  return `$${dollars.toFixed(dollars > 0 && dollars < 0.1 ? 4 : 2)}`
}

const grouped = (count: number) => String(Math.round(count)).replace(/\B(?=(?:\d{3})+$)/g, ',')
