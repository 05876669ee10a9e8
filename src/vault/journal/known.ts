/**
 * Reads what a vault knows without the records, in case they are lost or in doubt: repository, tasks and operations.
 * Only the `note…` functions and `mendTip` write (docs/adr/0019-records-from-the-vault.md).
 */
import path from 'node:path'
import { appError, AppError } from '../../core/model/errors.ts'
import type { KeptOperation } from '../../core/model/operation.ts'
import type { RepoRecord } from '../../core/model/repo.ts'
import type { VaultLook } from '../../core/model/step.ts'
import type { Task } from '../../core/model/task.ts'
import type { FileSystem } from '../../core/ports/files.ts'
import type { Vault } from '../../core/ports/vault.ts'
import type { GitExec } from '../../git/exec.ts'
import { readLocks } from '../../git/locks.ts'
import type { OpenVault } from '../open.ts'
import { hasOwnParts, isObject, readRef, type VaultPlace } from '../place.ts'
import { parseCommit, parseStep } from './step.ts'

const noteFile = 'repo.json'
const doneFile = 'operations.jsonl'

/** Writes into the vault which repository it belongs to, unless it already says so. */
export async function noteRepo(files: FileSystem, vault: string, repo: RepoRecord): Promise<void> {
  const { id, name, commonDir, mark, addedAt } = repo
  const text = `${JSON.stringify({ id, name, commonDir, mark, addedAt })}\n`
  const file = path.join(vault, noteFile)
  if ((await files.readText(file)) === text) return
  await files.writeDurable(file, Buffer.from(text), 0o600)
  await files.sync([vault])
}

/** The repository of each vault in this state folder; `repo` is undefined where the vault does not name one. */
export async function readVaults(files: FileSystem, home: string): ReturnType<Vault['readVaults']> {
  const vaults = path.join(home, 'vaults')
  const names = (await files.readNames(vaults)).filter((name) => name.endsWith('.git')).toSorted()
  return Promise.all(
    names.map(async (folder) => {
      const name = folder.slice(0, -'.git'.length)
      const noted = await findNoted(files, path.join(vaults, folder)).catch(appError)
      if (noted instanceof AppError) return { name, why: noted.message }
      return { name, repo: noted && { ...noted, name } }
    }),
  )
}

/** The repository that the vault names; undefined where the note is missing or incomplete. */
async function findNoted(files: FileSystem, vault: string): Promise<RepoRecord | undefined> {
  const noted = parseObject((await files.readText(path.join(vault, noteFile))) ?? '') ?? {}
  const isWhole = ['id', 'commonDir', 'mark', 'addedAt'].every((key) => typeof noted[key] === 'string')
  return isWhole ? (noted as unknown as RepoRecord) : undefined
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** The names below `refs/<kind>/`, both loose and packed. */
async function readRefNames(files: FileSystem, vault: string, kind: string): Promise<string[]> {
  const loose = await files.readNames(path.join(vault, 'refs', kind))
  const packed = (await files.readText(path.join(vault, 'packed-refs'))) ?? ''
  const listed = Array.from(packed.matchAll(/^[0-9a-f]+ (refs\/\S+)$/gm), ([, ref = '']) => ref)
    .filter((ref) => ref.startsWith(`refs/${kind}/`))
    .map((ref) => ref.slice(`refs/${kind}/`.length))
  return [...new Set([...loose, ...listed])].filter((name) => /^[0-9a-z]{20}$/.test(name)).toSorted()
}

export function readUids(files: FileSystem, vault: string): Promise<string[]> {
  return readRefNames(files, vault, 'tasks')
}

/** The task's record as step 0 holds it. */
export async function findRecord(vault: OpenVault, first: string): Promise<Task | undefined> {
  return parseStep(parseCommit(await vault.objects.readObject(first)).message)?.task
}

/** Finds step 0 of every task with one git call. */
export async function readIds(
  exec: GitExec,
  vault: string,
  uids: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  if (uids.length === 0) return new Map()
  const { stdout } = await exec({
    args: ['log', '-z', '--format=%B', '--grep=^Offshoot-Step: 0$', '--ignore-missing', '--stdin'],
    stdin: uids.map((uid) => `refs/tasks/${uid}\n`).join(''),
    gitDir: vault,
    cwd: vault,
    // Exit code 128: a history lacks a commit. Git has already printed the commits after the gap.
    expect: [128],
    signal,
  })
  const tasks = stdout
    .toString()
    .split('\0')
    .flatMap((message) => parseStep(message)?.task ?? [])
  return new Map(tasks.map(({ uid, id }) => [uid, id]))
}

/** Appends one line per finished operation. A line that a power cut cut off is ignored. */
export async function noteDone(
  vault: OpenVault,
  done: readonly { readonly name: string; readonly note: object }[],
): Promise<void> {
  const file = path.join(vault.vault, doneFile)
  const lines = done.map(({ name, note }) => `\n${JSON.stringify({ ...note, id: name })}\n`)
  if (lines.length > 0) await vault.files.appendDurable(file, lines.join(''), 0o600)
}

async function readDone(
  files: FileSystem,
  vault: string,
): Promise<Map<string, { order: number; note: object }>> {
  const text = (await files.readText(path.join(vault, doneFile))) ?? ''
  const done = new Map<string, { order: number; note: object }>()
  for (const [order, line] of text.split('\n').entries()) {
    const { id, ...note } = parseObject(line) ?? {}
    // A recovery may have noted the operation a second time: the first line has the order.
    if (typeof id === 'string') done.set(id, { order: done.get(id)?.order ?? order, note })
  }
  return done
}

export async function readKept(
  vault: OpenVault,
  find: (name: string) => Promise<{ record: unknown } | undefined>,
): Promise<KeptOperation[]> {
  const done = await readDone(vault.files, vault.vault)
  const kept: KeptOperation[] = []
  for (const name of await readRefNames(vault.files, vault.vault, 'operations')) {
    const found = await find(name).catch(() => undefined)
    if (found) kept.push({ name, record: found.record, done: done.get(name) })
  }
  return kept
}

/**
 * Changes nothing: checks that the vault has its parts and the repository's id, and that each task's ref is a commit.
 */
export async function inspect(
  files: FileSystem,
  exec: GitExec,
  place: VaultPlace,
  id: string,
  deep: boolean,
  signal?: AbortSignal,
): Promise<VaultLook> {
  const { vault } = place
  if ((await files.readKind(vault)) !== 'folder') return { state: 'missing', tips: new Map() }
  const parts = { HEAD: 'file', config: 'file', objects: 'folder', refs: 'folder' } as const
  for (const [name, kind] of Object.entries(parts))
    if ((await files.readKind(path.join(vault, name))) !== kind) return { state: 'damaged', tips: new Map() }
  const uids = await readUids(files, vault)
  // The first step writes the note before its ref, so a vault with refs must have it.
  if (uids.length > 0 && (await findNoted(files, vault))?.id !== id)
    return { state: 'damaged', tips: new Map() }
  const commits = await Promise.all(uids.map((uid) => readRef(files, vault, `refs/tasks/${uid}`)))
  const asked = await exec({
    args: ['cat-file', '--batch-check=%(objecttype)'],
    stdin: commits.map((commit) => `${isObject(commit) ? commit : 'none'}\n`).join(''),
    gitDir: vault,
    cwd: vault,
    signal,
  }).catch(appError)
  if (asked instanceof AppError) {
    if (await hasOwnParts(files, vault)) throw asked
    return { state: 'damaged', tips: new Map() }
  }
  const types = asked.stdout.toString().split('\n')
  const tips = new Map(uids.map((uid, n) => [uid, types[n] === 'commit']))
  // The vault may not have copied a base yet. It is then only in the user's repository: without that we cannot say.
  const looks = deep && (await files.readKind(place.commonDir)) === 'folder'
  const lost = looks ? await readLost(exec, place, new Set(commits), signal) : undefined
  const locks = (await readLocks({ commonDir: vault })).map((lock) => {
    return { ...lock, name: path.join(vault, lock.name) }
  })
  return { state: 'sound', tips, lost, locks }
}

async function readLost(
  exec: GitExec,
  { vault, alternates }: VaultPlace,
  tips: ReadonlySet<string | undefined>,
  signal?: AbortSignal,
): Promise<string[]> {
  const { stdout } = await exec({
    args: ['fsck', '--connectivity-only', '--no-dangling', '--no-progress'],
    gitDir: vault,
    alternates,
    cwd: vault,
    // The exit code of fsck is a sum of bits, one per kind of damage; its lines name the objects.
    expect: Array.from({ length: 63 }, (_, n) => n + 1),
    signal,
  })
  const missing = stdout.toString().matchAll(/^missing (?:blob|tree|commit) ([0-9a-f]+)$/gm)
  return Array.from(missing, ([, oid = '']) => oid).filter((oid) => !tips.has(oid))
}

/** Restores a task's ref, if the vault has that commit and it is a step. */
export async function mendTip(vault: OpenVault, uid: string, commit: string): Promise<boolean> {
  if (!isObject(commit)) return false
  const content = await vault.objects.readObject(commit).catch(() => undefined)
  if (!content || !parseStep(parseCommit(content).message)) return false
  const file = path.join(vault.vault, 'refs', 'tasks', uid)
  await vault.files.writeDurable(file, Buffer.from(`${commit}\n`), 0o600)
  await vault.files.sync([path.dirname(file)])
  return true
}
