import type { Settings } from '../model/settings.ts'

export interface SettingsSource {
  /** Throws `badSettings` when a file or variable is wrong. */
  read(checkout: string | null): Promise<Settings>
  /** Each value with where it comes from: `default`, a file, a variable or a flag. */
  readWithOrigin(checkout: string | null): Promise<{ key: string; value: unknown; origin: string }[]>
  /** Variables that look like settings and are none, each with the one that was probably meant. */
  readUnknownVariables(): { name: string; nearest: string | undefined }[]
  /** The text of a settings file with these values set, by key; the rest of it stays as it is. Writes nothing. */
  edit(text: string, values: Readonly<Record<string, unknown>>): Promise<string>
  /** The tables and values of another tool's TOML text. Throws `badSettings` with the line of the first mistake. */
  parseToml(text: string): Promise<Record<string, unknown>>
}
