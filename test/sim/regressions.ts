/** Histories that once went wrong, shortened, as `--save` writes them. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { HistoryAction } from './history-actions.ts'

const folder = path.join(import.meta.dirname, 'regressions')

export function regressions(): { readonly name: string; readonly history: readonly HistoryAction[] }[] {
  return readdirSync(folder).map((file) => ({
    name: path.basename(file, '.json'),
    history: JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as HistoryAction[],
  }))
}
