/** The user's conversions on the way into a commit (line ends, filters, encodings), for steps that are published. */
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { eachOf } from '../../core/base/concurrency.ts'
import { attributeFiles } from '../../core/model/attribute-files.ts'
import { below, type BytePath, splitNul, toBytes } from '../../core/model/bytes.ts'
import { appError, programFailure } from '../../core/model/errors.ts'
import type { Repo } from '../../core/model/repo.ts'
import type { Task } from '../../core/model/task.ts'
import type { LeafChange } from '../../core/model/tree.ts'
import { scratchIn } from '../../core/model/layout.ts'
import { lastStep } from '../capture/first-step.ts'
import { findLeaf, type Leaf } from '../objects/tree.ts'
import type { OpenVault } from '../open.ts'
import { writeBlob } from '../restore/write-blob.ts'
import { conversionsOf, makeCleanRepo } from './conversions.ts'

let counter = 0

/** Converts each file as `git add` would, with the attributes of the last step. */
export async function cleanChanges(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  changes: ReadonlyMap<BytePath, LeafChange>,
  signal?: AbortSignal,
): Promise<Map<BytePath, Leaf | null>> {
  const { tree } = await lastStep(vault, repo, task, signal)
  const contents = new Map(Array.from(changes, ([file, { to }]) => [file, to]))
  return clean(vault, task, tree, contents, signal)
}

/** Does the same with the attributes of `tree`. */
export async function clean(
  vault: OpenVault,
  task: Task,
  tree: string,
  changes: ReadonlyMap<BytePath, Leaf | null>,
  signal?: AbortSignal,
): Promise<Map<BytePath, Leaf | null>> {
  const cleaned = new Map(changes)
  const files = new Map<BytePath, Leaf>()
  for (const [file, leaf] of changes) if (leaf?.mode.startsWith('100')) files.set(file, leaf)
  if (files.size === 0) return cleaned
  const settings = await conversionsOf(vault, task, signal)
  const attributes = await attributesFor(vault, tree, files.keys())
  const scratch = await makeCleanRepo(vault, task)
  if (settings.length === 0 && attributes.size === 0 && !(await hasConversions(vault, scratch, signal)))
    return cleaned
  const bench = scratchIn(vault.vault, `clean-${process.pid}-${counter++}`)
  await mkdir(bench, { mode: 0o700 })
  try {
    const work = {
      vault,
      scratch,
      bench,
      signal,
      settings: [...settings, ['core.safecrlf', 'false']],
    } as const
    for (const [file, leaf] of attributes) await layOut(work, file, leaf)
    // A filter may be a script with a relative path. The bench is still empty, so that git cannot find a script that
    // the agent has written.
    const filtered = await findFiltered(work, [...files.keys()])
    for (const file of filtered) await cleanOne(work, file, files, cleaned)
    const rest = [...files.keys()].filter((file) => !filtered.has(file))
    await eachOf(rest, 8, async (file) => {
      if (!attributes.has(file)) await layOut(work, file, files.get(file))
    })
    await cleanMany(work, rest, cleaned)
  } finally {
    await vault.files.remove(bench)
    await vault.files.remove(`${bench}.content`)
  }
  return cleaned
}

interface Work {
  readonly vault: OpenVault
  readonly scratch: string
  /** A work tree that holds the attribute files, and later the files. */
  readonly bench: string
  readonly settings: readonly (readonly [key: string, value: string])[]
  readonly signal: AbortSignal | undefined
}

function callScope({ vault, scratch, bench, settings, signal }: Work) {
  return {
    gitDir: scratch,
    objectDir: path.join(vault.vault, 'objects'),
    workTree: bench,
    cwd: bench,
    config: 'user',
    settings,
    signal,
  } as const
}

async function layOut({ vault, bench }: Work, file: BytePath, leaf: Leaf | undefined): Promise<void> {
  if (!leaf) return
  const slash = file.lastIndexOf('/')
  if (slash !== -1) await mkdir(below(bench, file.slice(0, slash)), { recursive: true })
  await writeBlob(vault, below(bench, file), { ...leaf, mode: '100644' })
}

/** The attribute files that apply to these files. */
async function attributesFor(
  vault: OpenVault,
  tree: string,
  files: Iterable<BytePath>,
): Promise<Map<BytePath, Leaf>> {
  const found = new Map<BytePath, Leaf>()
  for (const file of attributeFiles(files)) {
    const leaf = await findLeaf(vault.objects, tree, file)
    if (leaf?.mode.startsWith('100')) found.set(file, leaf)
  }
  return found
}

/** Whether the user has a setting or an attribute file that converts. */
async function hasConversions(vault: OpenVault, scratch: string, signal?: AbortSignal): Promise<boolean> {
  for (const file of [...vault.attributes, path.join(scratch, 'info', 'attributes')]) {
    if ((await vault.files.readText(file)) !== undefined) return true
  }
  const args = ['config', '--get-regexp', '^core\\.(autocrlf|eol|attributesfile)$']
  const own = await vault.exec({ args, gitDir: scratch, cwd: scratch, config: 'user', expect: [1], signal })
  return own.stdout.length > 0
}

async function findFiltered(work: Work, files: readonly BytePath[]): Promise<Set<BytePath>> {
  const { stdout } = await work.vault.exec({
    args: ['check-attr', '-z', '--stdin', 'filter'],
    stdin: Buffer.from(files.map((file) => `${file}\0`).join(''), 'latin1'),
    ...callScope(work),
  })
  const fields = splitNul(stdout)
  const found = new Set<BytePath>()
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [file = '', , value = ''] = fields.slice(at, at + 3)
    if (!['unspecified', 'unset', 'set'].includes(value)) found.add(file)
  }
  return found
}

/** The content lies in a file outside of the bench, so that git streams it into the filter. */
async function cleanOne(
  work: Work,
  file: BytePath,
  files: ReadonlyMap<BytePath, Leaf>,
  cleaned: Map<BytePath, Leaf | null>,
): Promise<void> {
  const leaf = files.get(file)
  if (!leaf) return
  const content = `${work.bench}.content`
  await work.vault.files.remove(content)
  await writeBlob(work.vault, Buffer.from(content), { ...leaf, mode: '100644' })
  const args = ['hash-object', '-w', `--path=${toBytes(file).toString()}`, '--', content]
  const oid = await hashContents(work, { args })
  if (oid?.[0]) cleaned.set(file, { mode: leaf.mode, oid: oid[0] })
}

/** Converts all files at once. If git fails on one of them, halving finds it, and it stays unconverted. */
async function cleanMany(
  work: Work,
  files: readonly BytePath[],
  cleaned: Map<BytePath, Leaf | null>,
): Promise<void> {
  if (files.length === 0) return
  const stdin = `${files.map(quotePath).join('\n')}\n`
  const oids = await hashContents(work, { args: ['hash-object', '-w', '--stdin-paths'], stdin })
  if (!oids) {
    if (files.length === 1) return
    const half = Math.ceil(files.length / 2)
    await cleanMany(work, files.slice(0, half), cleaned)
    await cleanMany(work, files.slice(half), cleaned)
    return
  }
  for (const [index, file] of files.entries()) {
    const [leaf, oid] = [cleaned.get(file), oids[index]]
    if (leaf && oid) cleaned.set(file, { mode: leaf.mode, oid })
  }
}

/** The ids; undefined when a content contradicts its attributes, so that git cannot convert it. */
async function hashContents(
  work: Work,
  call: { args: string[]; stdin?: string },
): Promise<string[] | undefined> {
  try {
    const { stdout } = await work.vault.exec({ ...call, ...callScope(work) })
    return stdout.toString().trim().split('\n')
  } catch (error) {
    const said = programFailure(appError(error))?.stderr ?? ''
    // Any other failure is thrown: if a required filter failed, the content that it hides must not become readable.
    if (!/BOM is|BOM in|failed to encode|working-tree-encoding/.test(said)) throw error
    return undefined
  }
}

/** Quotes a path as git expects it in a list of lines. */
function quotePath(file: BytePath): string {
  const escaped = file.replace(
    /[^ !#-[\]-~]/g,
    (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`,
  )
  return `"${escaped}"`
}
