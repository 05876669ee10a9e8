import path from 'node:path'
import { toText } from './bytes.ts'
import { requireOpen, takeStep } from './checkpoint.ts'
import { closing } from './cleanup.ts'
import { eachOf } from './each.ts'
import { AppError } from './errors.ts'
import { planCommit } from './land-commit.ts'
import { type Landing, planPatch } from './land-patch.ts'
import { planShadow } from './land-shadow.ts'
import { planRequest } from './land-request.ts'
import { holdTask } from './hold.ts'
import { requireIdle } from './idle.ts'
import { requireTask } from './list.ts'
import { requireWorkspace } from './recreate.ts'
import { type Choice, type Offer, offerOf, withoutPointers } from './offer.ts'
import { conflictError } from './conflict-error.ts'
import { type Operation, perform } from './operation.ts'
import { loadPathMatcher, rootedSpec } from './pathspec.ts'
import type { CommandCall, Conflict, Ports, Repo } from './ports.ts'
import { type RiskyFile, risks } from './risk.ts'
import { findShadow, leaving } from './shadow.ts'
import type { Strategy } from './strategies.ts'
import type { Task } from './task.ts'
import { askTaskHook, type HookRun, runTaskHook } from './task-hooks.ts'

export interface AcceptInput extends Choice {
  readonly dir: string
  readonly task?: string | undefined
  readonly as?: Strategy | undefined
  readonly onto?: string | undefined
  readonly message?: string | undefined
  readonly conflicts?: 'fail' | 'markers' | undefined
  readonly dryRun?: boolean | undefined
  readonly keep?: boolean | undefined
  /** Paths that are landed although they look like trouble. */
  readonly allow?: readonly string[] | undefined
  /** The hooks of the user's repository run. */
  readonly hooks?: boolean | undefined
  /** Takes what a hook of the settings says. */
  readonly onOutput?: CommandCall['onOutput']
}

interface AcceptedFile {
  readonly path: string
  readonly status: 'added' | 'modified' | 'deleted'
}

interface Preview {
  readonly clean: boolean
  readonly conflicts: readonly Conflict[]
  /** What lands with conflict markers in it, as they were asked for. */
  readonly marked: readonly Conflict[]
  readonly files: readonly AcceptedFile[]
  readonly runsCode: readonly string[]
  readonly refused: readonly { path: string; why: string }[]
}

export interface Accepted {
  readonly task: Task
  readonly as: Strategy
  readonly preview: Preview
  /** Undefined in a dry run, and when there was nothing to land. */
  readonly operation?: string | undefined
  readonly onto?: string | undefined
  readonly commit?: string | undefined
  /** Of the pull request, when the tool told it. */
  readonly url?: string | undefined
  /** What became of the command that is to run afterwards. */
  readonly hook?: HookRun | undefined
}

/** Lands a task's work, all or any part of it: everything it says, or nothing. */
export async function accept(ports: Ports, input: AcceptInput, signal?: AbortSignal): Promise<Accepted> {
  const { repo: here, task: named } = await requireTask(ports, input.dir, input.task)
  const as = input.as ?? (named.shadow ? 'squash' : 'patch')
  requireSense(as, input)
  const choice = { ...input, only: await rootedPaths(ports, here, input) }
  const { onOutput } = input
  if (!input.dryRun) await askTaskHook(ports, here, named, 'preAccept', { onOutput }, signal)
  const { after, ...accepted } = await holdTask(ports, named, { verb: 'accept', signal }, async () => {
    const repo = await targetOf(ports, here, named)
    const task = await lastState(ports, repo, await requireOpen(ports, named), signal)
    const offer = await offerOf(ports, repo, task, choice, signal).catch(misfits)
    if (Array.isArray(offer)) {
      if (!input.dryRun)
        throw conflictError(offer, 'Steps that were left out touch the same lines: choose those as well.')
      const preview = { clean: false, conflicts: offer, marked: [], files: [], runsCode: [], refused: [] }
      return { task, as, preview, onto: undefined, after: undefined }
    }
    const part = as === 'patch' && !task.shadow ? await withoutPointers(ports, repo, offer) : offer
    const landing = await plan(ports, repo, task, part, as, input, signal)
    const preview = await previewOf(ports, repo, offer, part, landing, input.allow ?? [])
    if (input.dryRun) return { task, as, preview, onto: landing.onto, after: undefined }
    requireAllowed(preview)
    requireFiles(offer, part)
    if (landing.conflicts.length > 0)
      throw conflictError(landing.conflicts, wayOut(task, as, input, landing.conflicts))
    const done = !input.keep && part.whole
    const told = (await landing.reach?.()) ?? landing.told
    const operation = await operationOf(ports, repo, task, landing, part, as, done)
    const landed = await perform(ports, repo, task, operation)
    return { task: landed, as, preview, operation: operation.id, ...told, after: landing.after }
  })
  // Without the lock: a hook may well ask offshoot something.
  await after?.()
  if (!('operation' in accepted)) return accepted
  const cwd = (await targetOf(ports, here, named)).place.checkout ?? named.origin
  return { ...accepted, hook: await runTaskHook(ports, here, named, 'postAccept', { cwd, onOutput }, signal) }
}

/** The paths as seen from the root, when the user stands in a folder of a checkout. */
async function rootedPaths(ports: Ports, { place }: Repo, { dir, only }: AcceptInput) {
  if (!only || place.checkout === null) return only
  const folder = path.relative(place.checkout, await ports.files.readRealPath(dir))
  return only.map((spec) => rootedSpec(spec, folder))
}

/** What was asked for goes together. */
function requireSense(as: Strategy, input: AcceptInput): void {
  if (isBranch(as) && (input.only || input.steps || input.hunks))
    throw new AppError('WT_019', `${as} takes all of it: --only, --step and --hunks do not go with it.`)
  if (input.hooks && (as === 'patch' || as === 'keep-branch'))
    throw new AppError('WT_019', `${as} makes no commit and pushes nothing: there is no hook to run.`)
  if (input.onto !== undefined && (as === 'patch' || as === 'keep-branch'))
    throw new AppError('WT_019', `${as} lands on no branch: --onto does not go with it.`, {
      hint: 'Use --as squash, merge or rebase.',
    })
  if (input.message?.trim() === '')
    throw new AppError('WT_019', 'The message is empty.', { hint: 'Leave -m out, or say something.' })
}

/** The branch itself is what the user gets. */
function isBranch(as: Strategy): boolean {
  return as === 'keep-branch' || as === 'pr'
}

/** Steps that do not fit each other are conflicts like others. */
function misfits(error: unknown): Conflict[] {
  const conflicts = error instanceof AppError && error.code === 'WT_011' ? error.data?.conflicts : undefined
  if (Array.isArray(conflicts) && conflicts.length > 0) return conflicts as Conflict[]
  throw error
}

/** Where the conflicts can be solved. */
function wayOut(task: Task, as: Strategy, input: AcceptInput, conflicts: readonly Conflict[]): string {
  const merges = conflicts.filter(({ kind }) => !inTheWay.has(kind))
  if (merges.length === 0) return 'Commit what is yours there, or move it away; then repeat.'
  const isPatch = as === 'patch' && !task.shadow
  const from = isPatch ? ' --dirty' : input.onto === undefined ? '' : ` --onto ${input.onto}`
  const update = `offshoot update ${task.id}${from} --conflicts markers writes them into the workspace, to be solved there`
  const isText = merges.every(({ kind }) => kind === 'content' || kind === 'add/add')
  const here = isPatch && isText && input.conflicts !== 'markers'
  return here ? `${update}; accept --conflicts markers, into your files.` : `${update}.`
}

const inTheWay: ReadonlySet<Conflict['kind']> = new Set(['changed', 'untracked', 'case', 'symlink'])

/** The checkout that -C or the current folder is in; inside a workspace, the one that the task was started in. */
async function targetOf(ports: Ports, repo: Repo, task: Task): Promise<Repo> {
  const { checkout } = repo.place
  const inWorkspace = checkout !== null && (await ports.store.findTaskByPath(checkout)) !== undefined
  const target = checkout === null || inWorkspace ? task.origin : checkout
  const place = await ports.locate(target)
  const other = await findShadow(ports, repo, place.checkout)
  if (other && other.uid !== task.uid) {
    throw new AppError('WT_002', `${other.id} is at work in ${target}, on its branch ${other.branch}.`, {
      path: target,
      hint: `Accept or reject ${other.id} first.`,
    })
  }
  return { ...repo, place }
}

/** What an agent is still writing cannot be landed; what nobody has taken yet becomes a step. */
async function lastState(ports: Ports, repo: Repo, task: Task, signal?: AbortSignal): Promise<Task> {
  requireIdle(task)
  await requireWorkspace(ports, repo, task)
  const note = { tool: 'checkpoint', summary: 'before the accept' }
  return (await takeStep(ports, repo, task, note, undefined, signal)).task
}

async function plan(
  ports: Ports,
  repo: Repo,
  task: Task,
  offer: Offer,
  as: Strategy,
  input: AcceptInput,
  signal?: AbortSignal,
): Promise<Landing> {
  if (as === 'keep-branch') return planKeepBranch(ports, repo, task, input, signal)
  if (as === 'pr') {
    const landing = await planRequest(ports, repo, task, input, signal)
    return task.shadow && !input.keep ? { ...landing, ...(await leaving(ports, repo, task)) } : landing
  }
  if (task.shadow && offer.whole && !input.keep)
    return planShadow(ports, repo, task, offer, as, input, signal)
  if (task.shadow && as === 'patch')
    throw new AppError('WT_019', `${task.id} is in the way of its own patch: a part lands as a commit.`, {
      hint: 'Use --as squash, or land all of it.',
    })
  if (as === 'patch') return planPatch(ports, repo, task, offer, input.conflicts === 'markers', signal)
  return planCommit(ports, repo, task, offer, as, input, signal)
}

async function planKeepBranch(
  ports: Ports,
  repo: Repo,
  task: Task,
  input: AcceptInput,
  signal?: AbortSignal,
): Promise<Landing> {
  const tip = input.dryRun ? task.head : (await ports.vault.publish(repo, task, signal)).tip
  const left = task.shadow && (await leaving(ports, repo, task))
  return { conflicts: [], refs: [], ...left, told: { commit: tip }, onto: undefined }
}

async function previewOf(
  ports: Ports,
  repo: Repo,
  offer: Offer,
  part: Offer,
  landing: Landing,
  allow: readonly string[],
): Promise<Preview> {
  const changes = await ports.contents.compare(repo, offer.base, offer.theirs)
  const files: (RiskyFile & AcceptedFile)[] = []
  const sorted = [...changes].sort(([a], [b]) => (a < b ? -1 : 1))
  await eachOf(sorted.entries(), 16, async ([index, [file, { from, to }]]) => {
    const content =
      to && to.mode !== '160000' ? await ports.contents.findContent(repo, to, looksAt) : undefined
    const status = !from ? 'added' : to ? 'modified' : 'deleted'
    files[index] = { path: toText(file), status, from, to, content }
  })
  const found = risks(files)
  const left = await ports.contents.compare(repo, part.theirs, offer.theirs)
  const leftOut = new Set(Array.from(left.keys(), toText))
  const allowed = allow.length > 0 ? (await loadPathMatcher())(allow) : () => false
  const { conflicts, marked = [] } = landing
  return {
    clean: conflicts.length === 0 && marked.length === 0,
    conflicts,
    marked,
    files: files.filter(({ path }) => !leftOut.has(path)).map(({ path, status }) => ({ path, status })),
    runsCode: found.runsCode,
    refused: found.refused.filter(({ path }) => !allowed(path)),
  }
}

const looksAt = 1024 * 1024

function requireAllowed({ refused }: Preview): void {
  const [first] = refused
  if (!first) return
  const named = refused.map(({ path, why }) => `${path} (${why})`).join(', ')
  throw new AppError('WT_017', `Not landed: ${named}.`, {
    path: first.path,
    hint: `If it is meant: --allow ${first.path}`,
    data: { refused },
  })
}

/** A patch that would land nothing, and leave everything to be landed, is none. */
function requireFiles(offer: Offer, part: Offer): void {
  if (part.theirs !== part.base || part.theirs === offer.theirs) return
  throw new AppError(
    'WT_019',
    'Only the pointers of submodules have changed, and a patch has no place for them.',
    {
      hint: 'Land them as a commit: --as squash',
    },
  )
}

async function operationOf(
  ports: Ports,
  repo: Repo,
  task: Task,
  landing: Landing,
  offer: Offer,
  as: Strategy,
  done: boolean,
): Promise<Operation> {
  const { files, index, head, refs } = landing
  const landed = {
    from: { landed: task.landed ?? null },
    to: { landed: { tree: offer.theirs, basis: offer.basis } },
  }
  const base = {
    id: ports.ids.uid(),
    verb: 'accept',
    task: task.uid,
    at: ports.clock.now().toISOString(),
    files,
    index,
    head,
    ...(as === 'pr' && { final: 'a pull request was opened' }),
  } as const
  // What was sent elsewhere is not in the target yet.
  if (!done && as === 'pr') return { ...base, refs, record: { from: {}, to: {} } }
  if (!done && !isBranch(as)) return { ...base, refs, record: landed }
  const kept = isBranch(as)
  const close = await closing(ports, repo, task, kept ? 'kept' : 'accepted', { keepBranch: kept })
  const record = { from: { ...close.record.from, ...landed.from }, to: { ...close.record.to, ...landed.to } }
  return { ...base, refs: [...refs, ...close.refs], workspace: close.workspace, record }
}
