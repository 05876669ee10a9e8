/** `--notify`: which ways it asks for, and the bell, which only the terminal can ring. */
import { type NotifyWay, notifyWays } from '../core/model/enums.ts'
import { AppError } from '../core/model/errors.ts'
import type { Told } from '../protocol/events.ts'
import { flag, text, type Values } from './command.ts'

const alone: readonly NotifyWay[] = ['bell', 'desktop']

/** The ways that --notify or --bell asks for; undefined: the settings say. */
export function notifyOf(values: Values): readonly NotifyWay[] | undefined {
  const asked = text(values, 'notify')
  const bell = flag(values, 'bell') ? (['bell'] as const) : []
  if (asked === undefined) return bell.length > 0 ? bell : undefined
  if (asked === '') return alone
  if (asked === 'none') return bell
  return [...new Set([...asked.split(',').map(requireWay), ...bell])]
}

function requireWay(word: string): NotifyWay {
  const way = notifyWays.find((one) => one === word)
  if (way !== undefined) return way
  throw new AppError('wrongUsage', `Unknown notification ${JSON.stringify(word)}.`, {
    hint: `--notify takes ${notifyWays.join(', ')}, comma-separated, or none; alone it is ${alone.join(',')}.`,
  })
}

export function ring(told: Told): void {
  if (told.event === 'notified' && told.how === 'bell' && process.stderr.isTTY) process.stderr.write('\u0007')
}
