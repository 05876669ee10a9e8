/** Wraps the tools of an agent loop, so that each call that changes files becomes a step. */
import { shellText } from '../model/redact.ts'
import { beginCall, type OpenCall, takeStepOf } from './calls.ts'
import type { ActiveRun } from './run.ts'

type Execute = (...args: never[]) => unknown

/** A function, or an object with an `execute` among other things, as the AI SDKs have it. */
export type Tool = Execute | { readonly execute?: Execute | undefined }

export type Tools = Readonly<Record<string, Tool>>

/** A wrapped call waits for its step, so it answers a promise. */
type Waiting<F> = F extends (...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : F

/** The same tools, of the same shape. */
export type WrappedTools<T extends Tools> = {
  readonly [K in keyof T]: T[K] extends Execute
    ? Waiting<T[K]>
    : { readonly [P in keyof T[K]]: P extends 'execute' ? Waiting<T[K][P]> : T[K][P] }
}

export interface WrapOptions {
  /** Tools that never write: by name, or by looking at the call. They make no step and cost nothing. */
  readonly readOnly?: readonly string[] | ((tool: string, input: unknown) => boolean)
  /** The summary of a call, for people. By default the first path-like or text value of its input. */
  readonly summary?: (tool: string, input: unknown) => string
  /** The files that a call wrote, if known for sure: then only those are read. */
  readonly files?: (tool: string, input: unknown) => readonly string[] | undefined
}

/** The same tools, of the same shape. The leftovers of a tool that throws become a sweep, not a step of its name. */
export function wrapTools<T extends Tools>(
  run: ActiveRun,
  tools: T,
  options: WrapOptions = {},
): WrappedTools<T> {
  const wrapped = Object.entries(tools).map(([name, tool]): [string, Tool] => {
    if (typeof tool === 'function') return [name, wrapExecute(run, name, tool, options)]
    if (!tool.execute) return [name, tool]
    return [name, { ...tool, execute: wrapExecute(run, name, tool.execute.bind(tool) as Execute, options) }]
  })
  return Object.fromEntries(wrapped) as WrappedTools<T>
}

/** For a loop with one function that runs every tool: `(name, input) => result`. */
export function wrapExecutor<R>(
  run: ActiveRun,
  execute: (tool: string, input: unknown) => R | Promise<R>,
  options: WrapOptions = {},
): (tool: string, input: unknown) => Promise<R> {
  return async (tool, input) => {
    const one = ((given: unknown) => execute(tool, given)) as Execute
    return (await wrapExecute(run, tool, one, options)(...([input] as never[]))) as R
  }
}

function wrapExecute(run: ActiveRun, tool: string, execute: Execute, options: WrapOptions): Execute {
  return async (...args) => {
    const input: unknown = args[0]
    if (isReadOnly(options.readOnly, tool, input)) return execute(...args)
    const summary = (options.summary ?? summaryOf)(tool, input)
    const call = beginCall(run, { tool, summary, id: callIdOf(args[1]) })
    const result = await attempt(run, call, () => execute(...args))
    call.state = 'ended'
    await takeStepOf(run, [call], { files: options.files?.(tool, input) })
    return result
  }
}

/** Sweeps after a failed tool, so that its leftovers do not look like the work of the next one. */
async function attempt(run: ActiveRun, call: OpenCall, work: () => unknown): Promise<unknown> {
  try {
    return await work()
  } catch (error) {
    Object.assign(call, { state: 'ended', failed: true })
    await takeStepOf(run, [call])
    throw error
  }
}

function isReadOnly(readOnly: WrapOptions['readOnly'], tool: string, input: unknown): boolean {
  return typeof readOnly === 'function' ? readOnly(tool, input) : (readOnly?.includes(tool) ?? false)
}

/** The AI SDK hands a tool the id of its call in the second argument. */
function callIdOf(extra: unknown): string | undefined {
  const id = (extra as { toolCallId?: unknown } | undefined)?.toolCallId
  return typeof id === 'string' ? id : undefined
}

const telling = ['path', 'file_path', 'filePath', 'file', 'command', 'cmd', 'pattern', 'query', 'description']

/** The first path-like or text value in the input of a tool. */
export function summaryOf(_: string, input: unknown): string {
  if (typeof input === 'string') return inShort(input)
  if (typeof input !== 'object' || input === null) return ''
  const values = input as Record<string, unknown>
  const key = telling.find((name) => typeof values[name] === 'string')
  return key === undefined ? '' : inShort(String(values[key]))
}

const longest = 100

/** Masks secrets before it cuts the text: half of a secret would not be recognized. */
export function inShort(said: string): string {
  return shellText(said).slice(0, longest).trim()
}
