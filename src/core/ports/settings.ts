/** The settings of a checkout, from files, variables and flags; implemented by src/settings. */
import type { Settings } from '../model/settings.ts'

/** Reads settings, and edits the text of a settings file. */
export interface SettingsSource {
  /** The settings that hold in a checkout. Throws `badSettings` when a file or variable is wrong. */
  read(checkout: string | null): Promise<Settings>
  /** Each value with its origin: `default`, a file, a variable or a flag. */
  readWithOrigin(checkout: string | null): Promise<{ key: string; value: unknown; origin: string }[]>
  /** Environment variables that look like settings but are unknown, each with the nearest known name. */
  readUnknownVariables(): { name: string; nearest: string | undefined }[]
  /** Answers the text of a settings file with these values set, by key; the rest stays as it is. Writes nothing. */
  edit(text: string, values: Readonly<Record<string, unknown>>): Promise<string>
  /** Parses the TOML settings of another tool. Throws `badSettings` with the line of the first mistake. */
  parseToml(text: string): Promise<Record<string, unknown>>
}
