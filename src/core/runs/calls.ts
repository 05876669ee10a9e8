/** The tool calls of a run whose work its next step may hold (docs/adr/0044-a-step-names-its-calls.md). */
import { leftBy, type Snapshot, type StepCall, type StepNote } from '../model/step.ts'
import { checkpointTask } from '../steps/take.ts'
import type { ActiveRun } from './run.ts'

/** A call of which no step holds all of the work yet. */
export interface OpenCall extends StepCall {
  failed?: true | undefined
  /** `background`: it was answered, and its command goes on. */
  state: 'running' | 'background' | 'ended'
}

export type RunCalls = Set<OpenCall>

export function beginCall({ calls }: ActiveRun, call: StepCall): OpenCall {
  const begun: OpenCall = { ...call, state: 'running' }
  calls.add(begun)
  return begun
}

export function findCall({ calls }: ActiveRun, id: string | undefined): OpenCall | undefined {
  return id === undefined ? undefined : [...calls].find((call) => call.id === id)
}

/** What is known of a step of calls before it is taken. */
export interface CallStep {
  /** All files that the calls have written: the step holds these, and so the work of these calls alone. */
  readonly files?: readonly string[] | undefined
  /** The name of the step, where it is not that of the first call. */
  readonly name?: { readonly tool: string; readonly summary: string } | undefined
}

/**
 * Takes a step that is named after the first of these calls, and names every other call whose work it may hold. Undefined
 * when an earlier step holds their work: calls that end together share one.
 */
export async function takeStepOf(
  run: ActiveRun,
  own: readonly [OpenCall, ...OpenCall[]],
  { files, name }: CallStep = {},
): Promise<Snapshot | undefined> {
  let held: OpenCall[] = []
  // The names are chosen under the lock: a call that ended while these waited for it is among them.
  const choose = () => {
    if (!own.some((call) => run.calls.has(call))) return undefined
    const named: [OpenCall, ...OpenCall[]] = [...own]
    if (!files) named.push(...[...run.calls].filter((call) => !own.includes(call)))
    held = named.filter(({ state }) => state === 'ended')
    return noteOf(run.id, named, name)
  }
  const taken = await checkpointTask(run, choose, files)
  for (const call of held) run.calls.delete(call)
  return taken
}

function noteOf(
  run: string,
  named: readonly [OpenCall, ...OpenCall[]],
  { tool, summary }: NonNullable<CallStep['name']> = named[0],
): StepNote {
  const calls = named.map(stepCall)
  if (named[0].failed) return { tool: 'sweep', summary: leftBy(tool), run, calls }
  return { tool, summary, run, call: named[0].id, ...(calls.length > 1 && { calls }) }
}

function stepCall({ id, tool, summary, failed }: OpenCall): StepCall {
  return { ...(id !== undefined && { id }), tool, summary, ...(failed && { failed }) }
}

/** The note of the last step of a run, which names the calls whose commands went on until then. */
export function sweepAtEnd({
  calls,
}: Pick<ActiveRun, 'calls'>): Pick<StepNote, 'tool' | 'summary' | 'calls'> {
  const left = [...calls].map(stepCall)
  if (left.length === 0) return { tool: 'sweep', summary: 'at the end of the run' }
  const tools = [...new Set(left.map(({ tool, summary }) => `${tool} ${summary}`.trim()))]
  return { tool: 'sweep', summary: `left in the background by ${tools.join(', ')}`, calls: left }
}
