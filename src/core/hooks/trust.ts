/**
 * What of a repository the user trusts: the values of its own settings that need it, the files that its commands name, and
 * the settings that it has for agents (docs/adr/0032-settings-by-origin.md).
 */
import { createHash } from 'node:crypto'
import type { RestrictedValue } from '../model/settings.ts'
import type { Agent } from '../ports/agent.ts'
import type { Ports } from '../ports/index.ts'
import { recognize, settingsCheckout, trustNote } from '../tasks/repo.ts'
import { type HashedFile, readFilesAt, readModules, readNamedFiles } from './files.ts'

/** What a repository has that needs trust, as it is now. */
export interface Trustable {
  readonly values: readonly RestrictedValue[]
  readonly files: readonly HashedFile[]
}

/** What is stored of the user's trust: the hash of the values, and every file by its path, with the contents that count. */
interface Trust {
  readonly values: string
  readonly files: Readonly<Record<string, readonly string[]>>
}

/**
 * Reads what needs trust in a checkout, with the settings that these agents obey. In a workspace the settings are its owner's,
 * and files of both count.
 */
export async function readTrustable(
  ports: Ports,
  checkout: string | null,
  agents: readonly Agent[],
): Promise<Trustable> {
  if (checkout === null) return { values: [], files: [] }
  const owner = await settingsCheckout(ports, checkout)
  const values = await ports.settings.readRestricted(owner)
  const files: HashedFile[] = await readModules(ports, owner, modulesOf(values))
  for (const root of new Set([owner, checkout])) {
    for (const command of commandsOf(values)) files.push(...(await readNamedFiles(ports, root, command)))
    files.push(...(await readFilesAt(ports, root, obeyedBy(agents))))
  }
  return { values, files: unique(files) }
}

/** Every path of a repository that one of the agents obeys. */
export function obeyedBy(agents: readonly Agent[]): string[] {
  return [...new Set(agents.flatMap(({ obeys = [] }) => obeys))].toSorted()
}

function commandsOf(values: readonly RestrictedValue[]): string[] {
  return values.flatMap(({ key, value }) =>
    (key.startsWith('hooks.') || key === 'notify.command') && typeof value === 'string' ? [value] : [],
  )
}

export function modulesOf(values: readonly RestrictedValue[]): readonly string[] {
  return (values.find(({ key }) => key === 'agent.adapters')?.value ?? []) as readonly string[]
}

function unique(files: readonly HashedFile[]): HashedFile[] {
  const byContent = new Map(files.map((file) => [`${file.path}\0${file.sha256}`, file]))
  return [...byContent].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, file]) => file)
}

/** The hash of all of it: whoever has shown it can tell whether it is still the same. */
export function fingerprintOf({ values, files }: Trustable): string {
  return hashOf([values, files.map(({ path, sha256 }) => [path, sha256])])
}

function hashOf(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}

/** What is stored when the user trusts exactly that. Pure. */
export function trustIn({ values, files }: Trustable): string {
  const byPath = new Map<string, string[]>()
  for (const { path, sha256 } of files) byPath.set(path, [...(byPath.get(path) ?? []), sha256])
  const trust: Trust = { values: hashOf(values), files: Object.fromEntries(byPath) }
  return JSON.stringify(trust)
}

async function findTrust({ notes }: Pick<Ports, 'notes'>, repo: string): Promise<Trust | undefined> {
  const text = (await notes.find(trustNote(repo))) ?? ''
  // Before version 0.2 it was a hash of the commands alone, which says too little.
  return text.startsWith('{') ? (JSON.parse(text) as Trust) : undefined
}

/** Whether the user trusts exactly these values of the repository's own file. */
export async function isTrusted(
  ports: Ports,
  checkout: string,
  values: readonly RestrictedValue[],
): Promise<boolean> {
  const repo = await recognize(ports, checkout)
  return repo !== undefined && (await findTrust(ports, repo.id))?.values === hashOf(values)
}

/** Whether the user trusts all of it, files included. */
export async function isAllTrusted(
  ports: Pick<Ports, 'notes'>,
  repo: string,
  { values, files }: Trustable,
): Promise<boolean> {
  const trust = await findTrust(ports, repo)
  return trust?.values === hashOf(values) && (await findUntrusted(ports, repo, files)).length === 0
}

/** Those of the files that the user has not trusted with this content. */
export async function findUntrusted(
  ports: Pick<Ports, 'notes'>,
  repo: string,
  files: readonly HashedFile[],
): Promise<HashedFile[]> {
  if (files.length === 0) return []
  const trusted = (await findTrust(ports, repo))?.files ?? {}
  return files.filter(({ path, sha256 }) => !Object.hasOwn(trusted, path) || !trusted[path]?.includes(sha256))
}
