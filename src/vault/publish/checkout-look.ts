/** Compares a user's checkout with its state at the start of a run, without writing there (docs/adr/0046-the-checkout-is-compared.md). */
import { randomUUID } from 'node:crypto'
import { type BigIntStats, readFileSync, readlinkSync } from 'node:fs'
import path from 'node:path'
import { eachOf } from '../../core/base/concurrency.ts'
import { inTime } from '../../core/base/in-time.ts'
import { below, type BytePath, splitNul } from '../../core/model/bytes.ts'
import type { CheckoutChange, CheckoutLook, CheckoutSide, DirtyFile } from '../../core/model/checkout-look.ts'
import { isSame } from '../../core/model/leaf.ts'
import { scratchIn } from '../../core/model/layout.ts'
import type { Repo } from '../../core/model/repo.ts'
import type { Task } from '../../core/model/task.ts'
import type { Leaf, Mode } from '../../core/model/tree.ts'
import { lookOnly } from '../../git/look.ts'
import { findCommit } from '../../git/refs.ts'
import { findContent } from '../objects/contents.ts'
import type { OpenVault } from '../open.ts'
import { smudge } from './commit.ts'
import { captureFiles, copyIndex, scanFiles, withIndex } from '../capture/checkout.ts'
import { findStat } from '../capture/overlay.ts'

/** A checkout that takes longer is not compared. */
const longestMs = 5_000

/** Of files that were dirty at the start: how many are looked at, and how many bytes of them are kept in memory. */
const mostDirty = 20_000
const largestDirty = 1024 * 1024
const mostDirtyBytes = 16 * 1024 * 1024

/** Of files that have changed: the largest that is kept, and of how many the old content is made again. */
const largestKept = 16 * 1024 * 1024
const mostRestored = 500

/** Undefined for a checkout that is too large to be compared in time. */
export async function lookAtCheckout(
  vault: OpenVault,
  repo: Repo,
  signal?: AbortSignal,
): Promise<CheckoutLook | undefined> {
  const { checkout } = repo.place
  if (checkout === null) return undefined
  // A folder for each run, because several may be at work in one workspace.
  const folder = scratchIn(vault.vault, `index-${process.pid}-${randomUUID()}`)
  let look: CheckoutLook | undefined
  try {
    look = await readLook(vault, repo, checkout, await copyIndex(vault, repo, folder), signal)
    return look
  } finally {
    if (!look) await vault.files.remove(folder).catch(() => {})
  }
}

async function readLook(
  vault: OpenVault,
  { place }: Repo,
  checkout: string,
  index: string,
  signal: AbortSignal | undefined,
): Promise<CheckoutLook | undefined> {
  const at = BigInt(Date.now()) * 1_000_000n
  const head = await findCommit(vault.exec, place, 'HEAD', signal)
  const found = await inTime(longestMs, signal, (late) => scanFiles(vault, checkout, index, late))
  if (!found || found.length > mostDirty) return undefined
  const room = { bytes: mostDirtyBytes }
  const dirty = new Map(found.map((file) => [file, readDirty(checkout, file, room)]))
  return { checkout, gitDir: place.gitDir, index, head, at, dirty }
}

function readDirty(checkout: string, file: BytePath, room: { bytes: number }): DirtyFile {
  const full = below(checkout, file)
  const stat = findStat(full)
  const content = stat && findSmall(full, stat, room)
  return {
    look: stat && wholeLook(stat),
    permissions: stat ? Number(stat.mode) & 0o777 : 0,
    content,
    isLink: Boolean(stat?.isSymbolicLink()),
  }
}

function wholeLook({ mode, size, mtimeNs, ctimeNs, ino }: BigIntStats): string {
  return [mode, size, mtimeNs, ctimeNs, ino].join(',')
}

function findSmall(full: Buffer, stat: BigIntStats, room: { bytes: number }): Buffer | undefined {
  try {
    if (stat.isSymbolicLink()) return readlinkSync(full, { encoding: 'buffer' })
    if (!stat.isFile() || stat.size > largestDirty || Number(stat.size) > room.bytes) return undefined
    const content = readFileSync(full, { flag: lookOnly as unknown as string })
    room.bytes -= content.length
    return content
  } catch {
    return undefined
  }
}

/** What differs from the look; undefined when the checkout is too large to be compared in time. */
export async function compareCheckout(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  seen: CheckoutLook,
): Promise<CheckoutChange[] | undefined> {
  // Without the index every file would look new.
  if ((await vault.files.readKind(seen.index)) !== 'file') return undefined
  try {
    return await compare(vault, repo, task, seen)
  } finally {
    await vault.files.remove(path.dirname(seen.index)).catch(() => {})
  }
}

async function compare(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  seen: CheckoutLook,
): Promise<CheckoutChange[] | undefined> {
  const found = await inTime(longestMs, undefined, (late) =>
    scanFiles(vault, seen.checkout, seen.index, late),
  )
  if (!found) return undefined
  const candidates = new Set([...found, ...seen.dirty.keys()].filter((file) => !isStillDirty(seen, file)))
  await dropCommitted(vault, repo, seen, candidates)
  const tracked = await readTracked(vault, seen, candidates)
  const changes: CheckoutChange[] = []
  let restored = 0
  await eachOf([...candidates].toSorted(), 4, async (file) => {
    const leaf = tracked.get(file)
    if (leaf?.mode === '160000') return
    const to = await sideNow(vault, seen, file)
    const known = seen.dirty.get(file)
    if (!known && !leaf && (to === null || isOlder(seen, file))) return
    const isMade = ++restored <= mostRestored
    const from = known
      ? await sideOf(vault, known)
      : leaf
        ? await cleanSide(vault, task, seen, file, leaf, isMade)
        : null
    if (!isSameSide(from, to)) changes.push({ path: file, from, to })
  })
  return changes.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

function isStillDirty({ checkout, dirty }: CheckoutLook, file: BytePath): boolean {
  const known = dirty.get(file)
  if (!known) return false
  const stat = findStat(below(checkout, file))
  return known.look === (stat && wholeLook(stat))
}

/** A file that a rule ignored at the start, and ignores no longer, is not new. */
function isOlder({ checkout, at }: CheckoutLook, file: BytePath): boolean {
  const stat = findStat(below(checkout, file))
  return stat !== undefined && stat.ctimeNs < at
}

/** Files that are as the new HEAD has them came with a commit or a checkout, which the refs and HEAD tell. */
async function dropCommitted(
  vault: OpenVault,
  repo: Repo,
  seen: CheckoutLook,
  candidates: Set<BytePath>,
): Promise<void> {
  const head = await findCommit(vault.exec, repo.place, 'HEAD')
  if (head === undefined || head === seen.head || candidates.size === 0) return
  const different = await withIndex(vault, repo, async (index) => {
    const args = ['diff-index', '--cached', '--no-renames', '--name-only', '-z', head]
    const { stdout } = await vault.exec({
      args,
      gitDir: vault.vault,
      alternates: vault.alternates,
      indexFile: index,
      cwd: vault.vault,
    })
    return new Set([...splitNul(stdout), ...(await scanFiles(vault, seen.checkout, index))])
  })
  for (const file of candidates) if (!different.has(file)) candidates.delete(file)
}

/** The entries of the index at the start. */
async function readTracked(
  { exec, vault }: OpenVault,
  { index }: CheckoutLook,
  files: ReadonlySet<BytePath>,
): Promise<Map<BytePath, Leaf>> {
  if (files.size === 0) return new Map()
  const { stdout } = await exec({
    args: ['ls-files', '-z', '--stage'],
    gitDir: vault,
    indexFile: index,
    cwd: vault,
  })
  return new Map(
    splitNul(stdout).flatMap((line): [BytePath, Leaf][] => {
      const [, mode, oid = '', file = ''] = /^(\d+) ([0-9a-f]+) 0\t(.*)$/s.exec(line) ?? []
      return mode !== undefined && files.has(file) ? [[file, { mode: mode as Mode, oid }]] : []
    }),
  )
}

async function sideOf(
  { objects }: OpenVault,
  { look, content, permissions, isLink }: DirtyFile,
): Promise<CheckoutSide> {
  if (look === undefined) return null
  if (!content) return { leaf: undefined, text: 'not kept' }
  const oid = await objects.put('blob', content)
  const mode = isLink ? '120000' : permissions & 0o100 ? '100755' : '100644'
  return { leaf: { mode, oid, ...(!isLink && { permissions }) }, text: oid }
}

/** The content that a clean file had, as a checkout writes it. */
async function cleanSide(
  vault: OpenVault,
  task: Task,
  { checkout }: CheckoutLook,
  file: BytePath,
  leaf: Leaf,
  isMade: boolean,
): Promise<CheckoutSide> {
  const isSmall = isMade && (await findContent(vault, leaf, largestKept).catch(() => undefined)) !== undefined
  return { leaf: isSmall ? await smudge(vault, task, checkout, file, leaf) : undefined, text: leaf.oid }
}

async function sideNow(vault: OpenVault, { checkout }: CheckoutLook, file: BytePath): Promise<CheckoutSide> {
  const stat = findStat(below(checkout, file))
  if (stat && stat.size > largestKept) return { leaf: undefined, text: `${stat.size} bytes` }
  const found = (await captureFiles(vault, checkout, [file])).get(file)
  if (found?.kind === 'special') return { leaf: undefined, text: 'special' }
  if (found?.kind !== 'file') return null
  const { leaf, permissions } = found
  return { leaf: leaf.mode === '120000' ? leaf : { ...leaf, permissions }, text: leaf.oid }
}

function isSameSide(from: CheckoutSide, to: CheckoutSide): boolean {
  if (from === null || to === null) return from === to
  return from.leaf && to.leaf ? isSame(from.leaf, to.leaf) : from.text === to.text
}
