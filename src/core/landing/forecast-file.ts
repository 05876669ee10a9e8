/** The last forecast, as a file of the vault. Losing it costs only time. */
import type { Forecast } from './forecast.ts'

/** A change of the form changes the number: what an older version has written then counts as lost. */
const version = 1

/** The forecast that a text of `forecastText` holds; undefined for any other text. */
export function findForecast(text: string | undefined): Forecast | undefined {
  try {
    const kept = JSON.parse(text ?? '{}') as { version?: number; forecast?: Forecast }
    return kept.version === version ? kept.forecast : undefined
  } catch {
    // A crash cut it off.
    return undefined
  }
}

export function forecastText(forecast: Forecast): string {
  return JSON.stringify({ version, forecast })
}
