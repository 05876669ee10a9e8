/** Whether a repository is bare, by git's rule: its config decides, else the name of its folder. */
import path from 'node:path'
import { readSmall } from './look.ts'

/** `[core] bare` of the main worktree. Files that the config includes are not read. */
export function isBare(commonDir: string): boolean {
  const config = coreValues(readSmall(path.join(commonDir, 'config')) ?? '')
  const own = config.hasWorktreeConfig ? readSmall(path.join(commonDir, 'config.worktree')) : undefined
  return coreValues(own ?? '').bare ?? config.bare ?? path.basename(commonDir) !== '.git'
}

function coreValues(config: string): { bare: boolean | undefined; hasWorktreeConfig: boolean } {
  let section = ''
  let bare: boolean | undefined
  let hasWorktreeConfig = false
  for (const line of config.split(/\r?\n/)) {
    const [, header, rest = ''] = /^\s*(?:\[([^\]]*)\])?(.*)$/.exec(line) ?? []
    if (header !== undefined) section = header.trim().toLowerCase()
    // A key without a value is true.
    const [, key = '', value = 'true'] =
      /^\s*(\w+)\s*(?:=\s*"?([^\s"#;]*)"?\s*)?(?:[#;].*)?$/.exec(rest) ?? []
    const name = `${section}.${key.toLowerCase()}`
    if (name === 'core.bare') bare = isTrue(value)
    if (name === 'extensions.worktreeconfig') hasWorktreeConfig = isTrue(value)
  }
  return { bare, hasWorktreeConfig }
}

function isTrue(value: string): boolean {
  return /^(?:true|yes|on|[1-9]\d*)$/i.test(value)
}
