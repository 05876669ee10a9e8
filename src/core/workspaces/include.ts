/**
 * Ignored files that a workspace gets from the checkout, as `.env`: those that `.worktreeinclude` or a setting names. They
 * are the user's, not the agent's work: no step ever holds them.
 */
import path from 'node:path'
import { eachOf } from '../base/concurrency.ts'
import { now } from '../base/time.ts'
import { type BytePath, fromText, toText } from '../model/bytes.ts'
import type { Place, Repo } from '../model/repo.ts'
import { isSecretName } from '../model/secrets.ts'
import type { Settings } from '../model/settings.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { append } from '../tasks/records.ts'

const listName = '.worktreeinclude'

export interface Included {
  readonly copied: readonly string[]
  readonly linked: readonly string[]
  /** Of the copied ones those that look like secrets: only the user can read them. */
  readonly secrets: readonly string[]
}

/** Gives the workspace what it is to have; undefined when nothing is named anywhere. */
export async function include(
  ports: Ports,
  repo: Repo,
  from: Place,
  settings: Settings['workspace'],
  task: Task,
  signal?: AbortSignal,
): Promise<Included | undefined> {
  const { checkout } = from
  if (checkout === null || task.shadow) return undefined
  const listed = (await ports.files.readText(path.join(checkout, listName))) ?? ''
  const [copies, links] = [[listed, ...settings.copy].join('\n'), settings.link.join('\n')]
  if (!isNaming(copies) && !isNaming(links)) return undefined
  const find = async (patterns: string, folders: boolean) =>
    isNaming(patterns)
      ? ports.contents.findIgnored({ ...repo, place: from }, checkout, patterns, folders, signal)
      : []
  const plan = chosen(await find(copies, false), await find(links, true))
  const isFree = async (file: BytePath) => isFreeIn(ports, task.path, toText(file))
  const copied = await filtered(plan.copied, isFree)
  const linked = await filtered(plan.linked, isFree)
  if (copied.length + linked.length === 0) return { copied: [], linked: [], secrets: [] }
  // Before any of it is there: from its first moment on it is in no step.
  await ports.steps.keepOut(repo, task, [...copied, ...linked])
  const names = { copied: copied.map(toText), linked: linked.map(toText) }
  await eachOf(names.copied, 8, async (name) => {
    signal?.throwIfAborted()
    const mode = isSecretName(name) ? 0o600 : undefined
    await ports.durable.copyNew(path.join(checkout, name), path.join(task.path, name), mode)
  })
  for (const name of names.linked)
    await ports.files.link(path.join(checkout, name), path.join(task.path, name))
  const included = { ...names, secrets: names.copied.filter(isSecretName) }
  await append(ports, task.uid, { type: 'included', ...shortened(included) }, now(ports))
  return included
}

/** Whether there is anything but comments in a list of patterns. */
function isNaming(patterns: string): boolean {
  return patterns.split('\n').some((line) => line.trim() !== '' && !line.startsWith('#'))
}

/** What is linked as a whole is not copied file by file. Names that are no text are left alone. */
function chosen(
  copied: readonly BytePath[],
  linked: readonly BytePath[],
): { copied: BytePath[]; linked: BytePath[] } {
  const isText = (file: BytePath) => fromText(toText(file)) === file
  const folders = linked.map((file) => file.replace(/\/$/, '')).filter(isText)
  const isLinked = (file: BytePath) =>
    folders.some((folder) => file === folder || file.startsWith(`${folder}/`))
  // A repository inside comes as one path that ends in a slash.
  const files = copied.filter((file) => !file.endsWith('/') && isText(file) && !isLinked(file))
  return { copied: files, linked: folders }
}

async function filtered<T>(items: readonly T[], keeps: (item: T) => Promise<boolean>): Promise<T[]> {
  const kept: T[] = []
  for (const item of items) if (await keeps(item)) kept.push(item)
  return kept
}

/** Nothing is there, and no link on the way leads out of the workspace. */
export async function isFreeIn(ports: Ports, workspace: string, name: string): Promise<boolean> {
  const full = path.join(workspace, name)
  if ((await ports.files.readKind(full)) !== undefined) return false
  return (await ports.files.readRealPath(path.dirname(full))) === path.dirname(full)
}

/** The log names each secret, and of the rest as many as somebody would read. */
function shortened({ copied, linked, secrets }: Included) {
  return { count: copied.length, copied: copied.slice(0, 100), linked, secrets }
}
