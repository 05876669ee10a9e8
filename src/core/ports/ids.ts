/** Random names and secrets; made in src/compose. */

export interface Ids {
  /** 20 characters of [0-9a-z], never handed out twice. */
  uid(): string
  /** 43 characters of [A-Za-z0-9_-]: 256 random bits that nobody can guess. */
  secret(): string
}
