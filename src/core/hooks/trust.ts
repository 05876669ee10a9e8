import { createHash } from 'node:crypto'
import type { Ports } from '../ports/index.ts'
import type { HookCommand } from './hooks.ts'

/** What the user trusts: all of the repository's commands together, to the letter. Pure. */
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
