/** The verb trust: lets the hooks of a repository's own settings run. */
import { type HookCommand, readHooks } from '../hooks/hooks.ts'
import { fingerprintOf, isTrusted, trustNote } from '../hooks/trust.ts'
import { AppError } from '../model/errors.ts'
import type { Ports } from '../ports/index.ts'
import { requireRepo } from '../tasks/repo.ts'

export interface TrustInput {
  readonly dir: string
  /** Only shows the commands. */
  readonly show?: boolean | undefined
  /** Takes the trust in this repository back. */
  readonly revoke?: boolean | undefined
  /** No person is at the terminal, so the caller has to confirm explicitly. */
  readonly isUnattended?: boolean | undefined
  readonly ci?: boolean | undefined
}

export interface Trusted {
  /** The commands that the repository's own settings would run. */
  readonly commands: readonly HookCommand[]
  readonly trusted: boolean
}

/** Trusts the commands exactly as they are now; a changed one needs new trust. */
export async function trust(ports: Ports, input: TrustInput, signal?: AbortSignal): Promise<Trusted> {
  const repo = await requireRepo(ports, input.dir, signal)
  const hooks = await readHooks(ports, repo.place.checkout)
  const commands = hooks.filter((hook) => hook.isForeign)
  if (input.show) return { commands, trusted: await isTrusted(ports, repo.id, hooks) }
  if (input.isUnattended && !input.ci) {
    throw new AppError('policyRefused', 'Only a person at a terminal can trust these commands.', {
      hint: 'To trust them in CI all the same: offshoot trust --ci',
    })
  }
  await ports.notes.put(trustNote(repo.id), input.revoke ? '' : fingerprintOf(hooks))
  return { commands, trusted: !input.revoke }
}
