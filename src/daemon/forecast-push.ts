/** Tells a subscriber how the forecasts change. It keeps no queue: it knows what the client was told last of each repository. */
import type { Forecasts } from '../api/follow.ts'
import { forecastChange } from '../api/views.ts'
import type { Wire } from './wire.ts'

export interface ForecastPush {
  /** Goes on: the client has taken what it was sent. */
  go(): void
  close(): void
}

/** Begins with all that is known. Who reads slowly gets one difference later, instead of several. */
export function openForecastPush(
  { last, listen }: Forecasts,
  wire: Wire,
  fitsRepo: (id: string) => boolean,
): ForecastPush {
  const told = new Map<string, ReturnType<(typeof last)['get']>>()
  const go = () => {
    for (const [repo, forecast] of last) {
      if (!wire.isQuick()) return
      if (told.get(repo) === forecast || !fitsRepo(repo)) continue
      const change = forecastChange(told.get(repo), forecast)
      told.set(repo, forecast)
      if (change)
        wire.push({ type: 'notification', action: 'forecast.changed', payload: { repo, ...change } })
    }
  }
  return { go, close: listen(go) }
}
