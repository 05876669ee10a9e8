/**
 * Copies or links ignored files such as `.env` from the checkout into a workspace: the files that `.worktreeinclude` or a
 * setting names. They belong to the user and are not the agent's work, so no step ever holds them.
 */
import path from 'node:path'
import { eachOf } from '../base/concurrency.ts'
import { now } from '../base/time.ts'
import { following } from '../base/watch.ts'
import { type BytePath, fromText, toText } from '../model/bytes.ts'
import type { Place } from '../model/repo.ts'
import { isSecretName } from '../model/secrets.ts'
import type { Settings } from '../model/settings.ts'
import type { Ports } from '../ports/index.ts'
import { append } from '../tasks/records.ts'
import type { Work } from '../tasks/work.ts'

const listName = '.worktreeinclude'

export interface Included {
  readonly copied: readonly string[]
  readonly linked: readonly string[]
  /** The copied files that look like secrets; they get mode 600. */
  readonly secrets: readonly string[]
}

/** Copies and links the files that are named; undefined when no pattern is set anywhere. */
export async function include(
  work: Work,
  from: Place,
  settings: Settings['workspace'],
): Promise<Included | undefined> {
  const { ports, repo, task } = work
  const { signal, count } = following(work, 'copying')
  const { checkout } = from
  if (checkout === null || task.shadow) return undefined
  const listed = (await ports.files.readText(path.join(checkout, listName))) ?? ''
  const [copies, links] = [[listed, ...settings.copy].join('\n'), settings.link.join('\n')]
  if (!isNaming(copies) && !isNaming(links)) return undefined
  const find = async (patterns: string, folders: boolean) =>
    isNaming(patterns)
      ? ports.contents.findIgnored({ ...repo, place: from }, checkout, patterns, folders, signal)
      : []
  const plan = inclusionPlan(await find(copies, false), await find(links, true))
  const isFree = async (file: BytePath) => isFreeIn(ports, task.path, toText(file))
  const copied = await filterAsync(plan.copied, isFree)
  const linked = await filterAsync(plan.linked, isFree)
  if (copied.length + linked.length === 0) return { copied: [], linked: [], secrets: [] }
  // Before the first copy, so that no step can hold one.
  await ports.steps.keepOut(repo, task, [...copied, ...linked])
  const names = { copied: copied.map(toText), linked: linked.map(toText) }
  const copyOne = async (name: string) => {
    const mode = isSecretName(name) ? 0o600 : undefined
    await ports.durable.copyNew(checkout, task.path, name, mode)
  }
  await eachOf(names.copied, 8, copyOne, { signal, onEach: count?.(names.copied.length) })
  for (const name of names.linked) await ports.durable.link(path.join(checkout, name), task.path, name)
  const included = { ...names, secrets: names.copied.filter(isSecretName) }
  await append(ports, task.uid, { type: 'included', ...eventLists(included) }, now(ports))
  return included
}

/** Whether a list of patterns has anything but comments and empty lines. */
function isNaming(patterns: string): boolean {
  return patterns.split('\n').some((line) => line.trim() !== '' && !line.startsWith('#'))
}

/** Drops the copies inside of linked folders, and names that are not UTF-8. */
function inclusionPlan(
  copied: readonly BytePath[],
  linked: readonly BytePath[],
): { copied: BytePath[]; linked: BytePath[] } {
  const isText = (file: BytePath) => fromText(toText(file)) === file
  const folders = linked.map((file) => file.replace(/\/$/, '')).filter(isText)
  const isLinked = (file: BytePath) =>
    folders.some((folder) => file === folder || file.startsWith(`${folder}/`))
  // git lists a nested repository as one path that ends in a slash.
  const files = copied.filter((file) => !file.endsWith('/') && isText(file) && !isLinked(file))
  return { copied: files, linked: folders }
}

async function filterAsync<T>(items: readonly T[], keeps: (item: T) => Promise<boolean>): Promise<T[]> {
  const kept: T[] = []
  for (const item of items) if (await keeps(item)) kept.push(item)
  return kept
}

/** Whether nothing is at that path, and no symlink on the way leads out of the workspace. */
export async function isFreeIn(
  ports: Pick<Ports, 'files'>,
  workspace: string,
  name: string,
): Promise<boolean> {
  const full = path.join(workspace, name)
  if ((await ports.files.readKind(full)) !== undefined) return false
  return (await ports.files.readRealPath(path.dirname(full))) === path.dirname(full)
}

/** The lists for the log: all secrets and links, and the first 100 copies. */
function eventLists({ copied, linked, secrets }: Included) {
  return { count: copied.length, copied: copied.slice(0, 100), linked, secrets }
}
