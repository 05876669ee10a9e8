/**
 * Reads what a vault knows without the records, in case they are lost or in doubt: its repository and tasks. Only
 * `mendTip` writes (docs/adr/0019-records-from-the-vault.md).
 */
import path from 'node:path'
import { appError, AppError } from '../../core/model/errors.ts'
import type { RepoRecord } from '../../core/model/repo.ts'
import type { VaultLook } from '../../core/model/step.ts'
import type { Task } from '../../core/model/task.ts'
import { taskRef, taskRefs } from '../../core/model/refs.ts'
import { repoFile, repoOfVault, tipFile, vaultFolder, vaultsFolder } from '../../core/model/layout.ts'
import type { FileSystem } from '../../core/ports/files.ts'
import type { Vault } from '../../core/ports/vault.ts'
import type { GitExec } from '../../git/exec.ts'
import { readLocks } from '../../git/locks.ts'
import { parseCommit } from '../objects/commit.ts'
import type { OpenVault } from '../open.ts'
import { hasOwnParts, isObject, readRef, readRefNames, type VaultPlace } from '../place.ts'
import { parseStep } from './step.ts'
import { findFirstCommit, findStart } from './steps.ts'

/** The repository of each vault in this state folder; `repo` is undefined where the vault does not name one. */
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

/** The repository that the vault names; undefined where the note is missing or incomplete. */
async function findNoted(files: FileSystem, vault: string): Promise<RepoRecord | undefined> {
  const noted = parseObject((await files.readText(repoFile(vault))) ?? '') ?? {}
  const isWhole = ['id', 'commonDir', 'mark', 'addedAt'].every((key) => typeof noted[key] === 'string')
  return isWhole ? (noted as unknown as RepoRecord) : undefined
}

export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

export function readUids(files: FileSystem, vault: string): Promise<string[]> {
  return readRefNames(files, vault, taskRefs)
}

/** The task's record as step 0 holds it. */
export async function findRecord(vault: OpenVault, uid: string): Promise<Task | undefined> {
  const first = await findStart(vault, uid)
  return first && parseStep(parseCommit(await vault.objects.readObject(first.commit)).message)?.task
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
    stdin: uids.map((uid) => `${taskRef(uid)}\n`).join(''),
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

/** Restores a task's ref to that step, else to step 0, if the vault has that commit and it is a step. */
export async function mendTip(vault: OpenVault, task: Task, step: string | undefined): Promise<boolean> {
  const commit = step ?? (await findFirstCommit(vault, task))
  if (!isObject(commit)) return false
  const content = await vault.objects.readObject(commit).catch(() => undefined)
  if (!content || !parseStep(parseCommit(content).message)) return false
  const file = tipFile(vault.vault, task)
  await vault.files.writeDurable(file, Buffer.from(`${commit}\n`), 0o600)
  await vault.files.sync([path.dirname(file)])
  return true
}
