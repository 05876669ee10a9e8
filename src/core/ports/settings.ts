/** The settings of a checkout, from files, variables and flags; implemented by src/settings. */
import type { RestrictedValue, Setting, Settings } from '../model/settings.ts'

/** Options of one command that are settings, too; they win over every other place. */
export interface CommandFlags {
  readonly policy?: { readonly [K in keyof Settings['policy']]?: Settings['policy'][K] | undefined }
  readonly notify?: { readonly how?: Settings['notify']['how'] | undefined }
}

/** Reads settings, and edits the text of a settings file. */
export interface SettingsSource {
  /**
   * The settings that hold in a checkout; in a workspace those of the checkout that its task was started from. Values of the
   * repository's own file that need trust and have none do not count. Throws `badSettings` when a file or variable is wrong.
   */
  read(checkout: string | null, flags?: CommandFlags): Promise<Settings>
  /** Each value with its origin: `default`, a file, a variable or a flag. */
  readWithOrigin(checkout: string | null): Promise<Setting[]>
  /** The values of the repository's own file that count only when the user trusts them, trusted or not. */
  readRestricted(checkout: string | null): Promise<RestrictedValue[]>
  /** Environment variables that look like settings but are unknown, each with the nearest known name. */
  readUnknownVariables(): { name: string; nearest: string | undefined }[]
  /** Answers the text of a settings file with these values set, by key; the rest stays as it is. Writes nothing. */
  edit(text: string, values: Readonly<Record<string, unknown>>): Promise<string>
  /** Parses the TOML settings of another tool. Throws `badSettings` with the line of the first mistake. */
  parseToml(text: string): Promise<Record<string, unknown>>
}
