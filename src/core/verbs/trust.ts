/** The verb trust: lets a repository's own settings count that could run something, or write elsewhere. */
import type { HashedFile } from '../hooks/files.ts'
import {
  fingerprintOf,
  isAllTrusted,
  modulesOf,
  readTrustable,
  type Trustable,
  trustIn,
} from '../hooks/trust.ts'
import { AppError } from '../model/errors.ts'
import type { RestrictedValue } from '../model/settings.ts'
import type { Ports } from '../ports/index.ts'
import { readAgents } from '../runs/choose-agent.ts'
import { requireRepo, trustNote } from '../tasks/repo.ts'

export interface TrustInput {
  readonly dir: string
  /** Only shows what there is to trust. */
  readonly show?: boolean | undefined
  /** Takes the trust in this repository back. */
  readonly revoke?: boolean | undefined
  /** The fingerprint of what the caller was shown: if it is not the same any more, nothing is trusted. */
  readonly fingerprint?: string | undefined
  /** No person is at the terminal, so the caller has to confirm explicitly. */
  readonly isUnattended?: boolean | undefined
  readonly ci?: boolean | undefined
}

export interface Trusted {
  /** The commands that the repository's own settings would run, and the modules that they would load. */
  readonly commands: readonly { readonly hook: string; readonly command: string }[]
  /** All values of its settings that need trust, commands included. */
  readonly settings: readonly RestrictedValue[]
  /** The files that the commands name, and the settings for agents. */
  readonly files: readonly HashedFile[]
  readonly fingerprint: string
  readonly trusted: boolean
}

/** Trusts all of it exactly as it is now; what changes needs new trust. */
export async function trust(ports: Ports, input: TrustInput, signal?: AbortSignal): Promise<Trusted> {
  const repo = await requireRepo(ports, input.dir, signal)
  // A module that is broken, or not trusted yet, has no agents.
  const { agents } = await readAgents(ports, input.dir).catch(() => ports)
  const found = await readTrustable(ports, repo.place.checkout, agents)
  const told = shown(found)
  if (input.show) return { ...told, trusted: await isAllTrusted(ports, repo.id, found) }
  if (input.isUnattended && !input.ci) {
    throw new AppError('policyRefused', 'With CI set, nobody is there to read what is trusted.', {
      hint: 'To trust it all the same: offshoot trust --ci',
    })
  }
  if (input.fingerprint !== undefined && input.fingerprint !== told.fingerprint) {
    throw new AppError('policyRefused', 'It has changed since it was shown, so nothing was trusted.', {
      hint: 'Look at it again: offshoot trust',
    })
  }
  await ports.notes.put(trustNote(repo.id), input.revoke ? '' : trustIn(found))
  return { ...told, trusted: !input.revoke }
}

function shown(found: Trustable): Omit<Trusted, 'trusted'> {
  const modules = new Set(modulesOf(found.values))
  const hooks = found.values.flatMap(({ key, value }) =>
    key.startsWith('hooks.') && typeof value === 'string'
      ? [{ hook: key.slice('hooks.'.length), command: value.trim() }]
      : [],
  )
  const loaded = found.files.flatMap(({ path, sha256 }) =>
    modules.has(path) ? [{ hook: 'agent.adapters', command: `${path} (sha256 ${sha256})` }] : [],
  )
  const files = found.files.filter(({ path }) => !modules.has(path))
  return {
    commands: [...hooks, ...loaded],
    settings: found.values,
    files,
    fingerprint: fingerprintOf(found),
  }
}
