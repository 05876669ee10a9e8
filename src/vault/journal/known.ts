/** What a vault knows by itself, for when the records are lost or in doubt. Nothing here makes or changes a vault. */
import path from 'node:path'
import { appError, AppError } from '../../core/model/errors.ts'
import type { KeptOperation } from '../../core/model/operation.ts'
import type { RepoRecord } from '../../core/model/repo.ts'
import type { VaultLook } from '../../core/model/step.ts'
import type { Task } from '../../core/model/task.ts'
import { operationRefs, taskRef, taskRefs } from '../../core/model/refs.ts'
import {
  completedFile,
  repoFile,
  repoOfVault,
  tipFile,
  vaultFolder,
  vaultsFolder,
} from '../../core/model/layout.ts'
import type { FileSystem } from '../../core/ports/files.ts'
import type { Vault } from '../../core/ports/vault.ts'
import type { GitExec } from '../../git/exec.ts'
import { readLocks } from '../../git/locks.ts'
import type { OpenVault } from '../open.ts'
import { hasOwnParts, isObject, readRef, type VaultPlace } from '../place.ts'
import { parseCommit, parseStep } from './step.ts'

/** Writes into the vault which repository it belongs to, unless it says so. */
export async function noteRepo(files: FileSystem, vault: string, repo: RepoRecord): Promise<void> {
  const { id, name, commonDir, mark, addedAt } = repo
  const text = `${JSON.stringify({ id, name, commonDir, mark, addedAt })}\n`
  const file = repoFile(vault)
  if ((await files.readText(file)) === text) return
  await files.writeDurable(file, Buffer.from(text), 0o600)
  await files.sync([vault])
}

/** The repositories that the vaults in this state folder belong to; undefined where one does not say. */
export async function readVaults(files: FileSystem, home: string): ReturnType<Vault['readVaults']> {
  const folders = (await files.readNames(vaultsFolder(home))).toSorted()
  return Promise.all(
    folders
      .flatMap((folder) => repoOfVault(folder) ?? [])
      .map(async (name) => {
        const noted = await findNoted(files, vaultFolder(home, name)).catch(appError)
        if (noted instanceof AppError) return { name, why: noted.message }
        return { name, repo: noted && { ...noted, name } }
      }),
  )
}

/** The repository as the vault names it; undefined where it does not, or only in part. */
async function findNoted(files: FileSystem, vault: string): Promise<RepoRecord | undefined> {
  const noted = parsed((await files.readText(repoFile(vault))) ?? '') ?? {}
  const isWhole = ['id', 'commonDir', 'mark', 'addedAt'].every((key) => typeof noted[key] === 'string')
  return isWhole ? (noted as unknown as RepoRecord) : undefined
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** The names of the refs below `above`, in files of their own or packed. */
async function readRefNames(files: FileSystem, vault: string, above: string): Promise<string[]> {
  const loose = await files.readNames(path.join(vault, above))
  const packed = (await files.readText(path.join(vault, 'packed-refs'))) ?? ''
  const listed = Array.from(packed.matchAll(/^[0-9a-f]+ (refs\/\S+)$/gm), ([, ref = '']) => ref)
    .filter((ref) => ref.startsWith(`${above}/`))
    .map((ref) => ref.slice(`${above}/`.length))
  return [...new Set([...loose, ...listed])].filter((name) => /^[0-9a-z]{20}$/.test(name)).toSorted()
}

export function readUids(files: FileSystem, vault: string): Promise<string[]> {
  return readRefNames(files, vault, taskRefs)
}

/** The task as step 0 has it. */
export async function findRecord(vault: OpenVault, first: string): Promise<Task | undefined> {
  return parseStep(parseCommit(await vault.objects.readObject(first)).message)?.task
}

/** One git for all of them: step 0 of each, wherever behind the last it lies. */
export async function readIds(
  exec: GitExec,
  vault: string,
  uids: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  if (uids.length === 0) return new Map()
  const { stdout } = await exec({
    args: ['log', '-z', '--format=%B', '--grep=^Offshoot-Step: 0$', '--ignore-missing', '--stdin'],
    stdin: uids.map((uid) => `${taskRef(uid)}\n`).join(''),
    gitDir: vault,
    cwd: vault,
    // Of a history with a hole in it, what lies before that.
    expect: [128],
    signal,
  })
  const tasks = stdout
    .toString()
    .split('\0')
    .flatMap((message) => parseStep(message)?.task ?? [])
  return new Map(tasks.map(({ uid, id }) => [uid, id]))
}

/** One line for each that has come to pass; a line that a power cut has cut off counts for nothing. */
export async function noteDone(
  vault: OpenVault,
  done: readonly { readonly name: string; readonly note: object }[],
): Promise<void> {
  const file = completedFile(vault.vault)
  const lines = done.map(({ name, note }) => `\n${JSON.stringify({ ...note, id: name })}\n`)
  if (lines.length > 0) await vault.files.appendDurable(file, lines.join(''), 0o600)
}

async function readDone(
  files: FileSystem,
  vault: string,
): Promise<Map<string, { order: number; note: object }>> {
  const text = (await files.readText(completedFile(vault))) ?? ''
  const done = new Map<string, { order: number; note: object }>()
  for (const [order, line] of text.split('\n').entries()) {
    const { id, ...note } = parsed(line) ?? {}
    // A recovery that finished it may have noted it once more: the first line says when.
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
  for (const name of await readRefNames(vault.files, vault.vault, operationRefs)) {
    const found = await find(name).catch(() => undefined)
    if (found) kept.push({ name, record: found.record, done: done.get(name) })
  }
  return kept
}

/** Looks without touching: all parts there, with the id of the repository, and behind each task's ref a commit. */
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
  // Whoever takes the first step writes it before.
  if (uids.length > 0 && (await findNoted(files, vault))?.id !== id)
    return { state: 'damaged', tips: new Map() }
  const commits = await Promise.all(uids.map((uid) => readRef(files, vault, taskRef(uid))))
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
  // A base that no copy was taken of yet is in the repository alone: without that there is no telling.
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
    // A number for each kind of trouble, added up; which one it is, the lines say.
    expect: Array.from({ length: 63 }, (_, n) => n + 1),
    signal,
  })
  const missing = stdout.toString().matchAll(/^missing (?:blob|tree|commit) ([0-9a-f]+)$/gm)
  return Array.from(missing, ([, oid = '']) => oid).filter((oid) => !tips.has(oid))
}

/** Gives a task its ref back, if the vault has that commit and it is a step of the task. */
export async function mendTip(vault: OpenVault, uid: string, commit: string): Promise<boolean> {
  if (!isObject(commit)) return false
  const content = await vault.objects.readObject(commit).catch(() => undefined)
  if (!content || !parseStep(parseCommit(content).message)) return false
  const file = tipFile(vault.vault, { uid })
  await vault.files.writeDurable(file, Buffer.from(`${commit}\n`), 0o600)
  await vault.files.sync([path.dirname(file)])
  return true
}
