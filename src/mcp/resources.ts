/** The resources of the MCP door: the diff, the steps and the record of each task, as text. */
import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  type ResourceTemplateType,
} from '@modelcontextprotocol/server'
import type { Call } from '../api/call.ts'
import type { Caller } from '../api/caller.ts'
import { appError } from '../core/model/errors.ts'
import { printable } from '../core/base/printable.ts'
import { asText, longestAnswer, tooLong } from './answers.ts'
import { type Folder, placed } from './folder.ts'

/** What is told of a task, and how it is read. No type that a client would carry out or draw: whatever an agent wrote is text. */
const kinds = {
  diff: { mimeType: 'text/x-diff', takes: '{?step,repo}', title: 'what it changed' },
  log: { mimeType: 'application/json', takes: '{?repo}', title: 'its steps' },
  show: { mimeType: 'application/json', takes: '{?repo}', title: 'its state, files and last words' },
} as const
type Kind = keyof typeof kinds

const kindNames = Object.keys(kinds) as Kind[]

const begin = 'offshoot://task/'

export function resourceForms(): ResourceTemplateType[] {
  return kindNames.map((kind) => {
    const { mimeType, takes, title } = kinds[kind]
    return {
      name: kind,
      uriTemplate: `${begin}{id}/${kind}${takes}`,
      mimeType,
      description: `Of a task: ${title}`,
    }
  })
}

/** Those of the open tasks: in the folder of the connection, or else in every repository, which an agent may not list. */
export async function listResources(
  call: Call,
  { kind: caller }: Caller,
  folder: Folder,
  signal: AbortSignal,
): Promise<Resource[]> {
  const own = await folder()
  if (own === undefined && caller === 'agent') return []
  const repos = own === undefined ? await openRepos(call, signal) : [own]
  const listed = Promise.all(
    repos.map(async (repo) => {
      const { tasks } = await call('task.list', { repo }, signal)
      return tasks.flatMap((task) =>
        kindNames.map((kind) => resourceOf(task, kind, own === undefined ? repo : undefined)),
      )
    }),
  )
  return (await listed.catch(refuse)).flat()
}

async function openRepos(call: Call, signal: AbortSignal): Promise<string[]> {
  const { repos } = await call('system.repos', {}, signal)
  return repos.filter(({ exists, openTasks }) => exists && openTasks > 0).map(({ path }) => path)
}

function resourceOf(
  task: { readonly id: string; readonly title: string },
  kind: Kind,
  repo: string | undefined,
): Resource {
  const { mimeType, title } = kinds[kind]
  const query = repo === undefined ? '' : `?repo=${encodeURIComponent(repo)}`
  return {
    uri: `${begin}${encodeURIComponent(task.id)}/${kind}${query}`,
    name: `${task.id} ${kind}`,
    description: [printable(task.title), title].filter((words) => words !== '').join(': '),
    mimeType,
  }
}

export async function readResource(
  call: Call,
  folder: Folder,
  uri: string,
  signal: AbortSignal,
): Promise<ReadResourceResult> {
  const asked = parseUri(uri)
  if (!asked) throw new ResourceNotFoundError(uri)
  const { kind, task, step, repo } = asked
  try {
    const { repo: place } = placed(repo === undefined ? {} : { repo }, await folder()) as { repo?: string }
    if (place === undefined) throw new ResourceNotFoundError(uri)
    const text = await textOf(call, kind, { repo: place, task, ...(step !== undefined && { step }) }, signal)
    if (text.length > longestAnswer) throw tooLong(text.length)
    return { contents: [{ uri, mimeType: kinds[kind].mimeType, text }] }
  } catch (thrown) {
    return refuse(thrown)
  }
}

/** A resource has no answer that says what went wrong, only an error of the protocol. */
function refuse(thrown: unknown): never {
  if (thrown instanceof ProtocolError) throw thrown
  const error = appError(thrown)
  const code = error.kind === 'usage' || error.kind === 'missing' ? 'InvalidParams' : 'InternalError'
  throw new ProtocolError(ProtocolErrorCode[code], error.message, error.toJSON())
}

interface Named {
  readonly repo: string
  readonly task: string
  readonly step?: string
}

async function textOf(
  call: Call,
  kind: Kind,
  { step, ...named }: Named,
  signal: AbortSignal,
): Promise<string> {
  if (kind === 'diff') return (await call('task.diff', { ...named, step }, signal)).diff
  return asText({ ok: true, ...(await call(`task.${kind}`, named, signal)) })
}

/** `offshoot://task/T1/diff?step=2`; undefined when it is none of ours. */
function parseUri(uri: string) {
  if (!uri.startsWith(begin)) return undefined
  const [, id = '', kind = '', query] = /^([^/?#]+)\/(\w+)(?:\?([^#]*))?$/.exec(uri.slice(begin.length)) ?? []
  if (!isKind(kind)) return undefined
  const given = new URLSearchParams(query)
  try {
    const task = decodeURIComponent(id)
    return { kind, task, step: given.get('step') ?? undefined, repo: given.get('repo') ?? undefined }
  } catch {
    return undefined
  }
}

function isKind(name: string): name is Kind {
  return Object.hasOwn(kinds, name)
}
