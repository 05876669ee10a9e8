/** Gathers what the policy must know about a tool call: the commands of its line, and where its paths lead. */
import path from 'node:path'
import { isKnown, loadShell } from '../base/shell.ts'
import type { ToolCall } from '../model/agent.ts'
import { absolute, asWritten, type PolicyPlace, type RealPaths } from './places.ts'
import { type ShellRuns, shellRuns, unknownRuns } from './shell-runs.ts'

export interface KnownCall extends ToolCall {
  /** The files that it names: all of them, as far as they can be told from its input. */
  readonly paths: readonly string[]
  /** Of a call with a command line. */
  readonly runs: ShellRuns | undefined
  readonly real: RealPaths
}

type ReadRealPath = (file: string) => Promise<string>

/** Words of a line whose links are followed; a line with more is never one that only looks. */
export const mostWords = 200

export async function knowCall(
  call: ToolCall,
  place: PolicyPlace,
  readRealPath: ReadRealPath,
): Promise<KnownCall> {
  const runs = await runsOf(call)
  const paths = namedPaths(call)
  const words = runs?.commands.flatMap(wordsOf).slice(0, mostWords) ?? []
  const real = new Map<string, string>()
  const folders = words.map((word) => path.dirname(absolute(word, place)))
  for (const word of new Set([...words, ...folders]))
    real.set(word, await followedWord(word, place, readRealPath))
  for (const file of new Set(paths)) real.set(file, await followed(file, place, readRealPath))
  return { ...call, paths, runs, real }
}

async function runsOf(call: ToolCall): Promise<ShellRuns | undefined> {
  const text = commandOf(call)
  if (isNoText(call)) return unknownRuns
  return text === undefined ? undefined : shellRuns(text, await loadShell())
}

/** `{"command": ["touch", "x"]}`: each agent runs that in a way of its own. */
function isNoText({ kind, command, input }: ToolCall): boolean {
  if (kind !== 'shell' || command || typeof input !== 'object' || input === null) return false
  const given = (input as { readonly command?: unknown }).command
  return given !== undefined && typeof given !== 'string'
}

/** A tool that is known to edit, read or fetch runs no command, whatever its input holds beside. */
function commandOf({ kind, command }: ToolCall): string | undefined {
  if (kind === 'shell') return command ?? ''
  return kind === 'other' ? command : undefined
}

/** The place with every link in its own paths followed, as the paths of a call are. */
export async function realPlace(place: PolicyPlace, readRealPath: ReadRealPath): Promise<PolicyPlace> {
  const all = (folders: readonly string[]) =>
    Promise.all(folders.map((folder) => followed(folder, place, readRealPath)))
  const [workspace = place.workspace] = await all([place.workspace])
  return { ...place, workspace, free: await all(place.free), closed: await all(place.closed) }
}

/**
 * A path that cannot be followed may lead anywhere: it counts as outside of every folder. So does `link/../x` where it
 * means two files: one for a program that goes through the link, one for a program that takes `link/..` out first.
 */
async function followed(file: string, place: PolicyPlace, readRealPath: ReadRealPath): Promise<string> {
  const ways = [absolute(file, place), ...(file.includes('..') ? [asWritten(file, place)] : [])]
  const found = new Set(await Promise.all(ways.map((way) => readRealPath(way).catch(() => nowhere))))
  const [only = nowhere] = found
  return found.size === 1 ? only : nowhere
}

const nowhere = path.parse(path.sep).root

/** Of a word with unknown parts, the folders before the first of them are followed. */
async function followedWord(file: string, place: PolicyPlace, readRealPath: ReadRealPath): Promise<string> {
  const parts = asWritten(file, place).split(path.sep)
  const at = parts.findIndex((part) => !isKnown(part))
  if (at === -1) return followed(file, place, readRealPath)
  const known = await followed(parts.slice(0, at).join(path.sep) || path.sep, place, readRealPath)
  return path.join(known, ...parts.slice(at))
}

const wordsOf = ({ words, redirects }: ShellRuns['commands'][number]) =>
  [...words.slice(1), ...redirects.map(({ target }) => target)]
    .flatMap((word) => [word, ...(/^[\w-]+=(.+)$/s.exec(word)?.slice(1) ?? [])])
    .filter((word) => word.length < 4096 && word !== '' && !word.startsWith('-'))

/** The paths in the input of a call. A tool of which nothing is known has a path in every text that looks like one. */
function namedPaths({ kind, name, files = [], input }: ToolCall): readonly string[] {
  if (kind === 'shell' || (kind === 'edit' && files.length > 0)) return files
  const found = kind === 'read' ? readPaths(name, input) : textsOf(input).filter(isPathLike)
  return [...new Set([...files, ...found])]
}

const pathKeys = /path|file|dir|folder|uri|include/i

function readPaths(name: string, input: unknown): readonly string[] {
  if (typeof input !== 'object' || input === null) return []
  return Object.entries(input).flatMap(([key, value]) => {
    if (pathKeys.test(key)) return textsOf(value)
    // The pattern of a search for names is a path, up to its first star.
    return key === 'pattern' && /glob/i.test(name)
      ? textsOf(value).map((text) => text.replace(/[*?[{].*$/s, ''))
      : []
  })
}

const isPathLike = (text: string) => /^(?:~?\/|file:|\.\.?\/)\S*$/.test(text) && text.length < 4096

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsOf)
}
