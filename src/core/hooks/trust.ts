/** Which commands of a repository's own settings the user trusts. */
import { createHash } from 'node:crypto'
import type { Ports } from '../ports/index.ts'
import type { HookCommand } from './hooks.ts'

/** The hash of all commands of the repository; when one of them changes, the trust is gone. */
export function fingerprintOf(hooks: readonly HookCommand[]): string {
  const foreign = hooks.filter((hook) => hook.isForeign).map(({ hook, command }) => [hook, command])
  return createHash('sha256').update(JSON.stringify(foreign)).digest('hex')
}

export function trustNote(repo: string): string {
  return `trust ${repo}`
}

export async function isTrusted(ports: Ports, repo: string, hooks: readonly HookCommand[]): Promise<boolean> {
  return (await ports.notes.find(trustNote(repo))) === fingerprintOf(hooks)
}
