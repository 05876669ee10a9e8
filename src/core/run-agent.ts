import path from 'node:path'
import type { Agent, AgentEnd, AgentInput, Cell } from './agent.ts'
import { chooseAgent } from './agents.ts'
import { type Attendance, attendance, type RunTold } from './attend.ts'
import { AppError, appError } from './errors.ts'
import type { Stray } from './events.ts'
import { requireTask } from './list.ts'
import { type Ask, permits } from './permission.ts'
import type { Policy } from './policy.ts'
import type { PolicyLevel } from './policy-levels.ts'
import type { CommandCall, Ports, Progress, Repo } from './ports.ts'
import { inTurn } from './queue.ts'
import { findRepo } from './repo.ts'
import { type ActiveRun, type EndedRun, type RunEnd, withRun } from './run.ts'
import type { Settings } from './settings.ts'
import { commandLine } from './redact.ts'
import { start } from './start.ts'
import { keepStrays, strays } from './stray.ts'
import type { Task } from './task.ts'
import { taskEnvironment } from './task-environment.ts'
import { turnCounter } from './turns.ts'
import { branchRef } from './workspace.ts'
import { append } from './tasks/records.ts'

export interface RunInput {
  readonly dir: string
  /** Of an open task, or of one to be started. */
  readonly task?: string | undefined
  /** Whether a task that is not there is started. */
  readonly starts: boolean
  /** By default the one of the settings, else the first that is installed. */
  readonly agent?: string | undefined
  /** Any command, instead of an agent. */
  readonly argv?: readonly string[] | undefined
  readonly prompt?: string | undefined
  /** Go on with the last conversation, or with that one. */
  readonly resume?: boolean | string | undefined
  readonly policy?: PolicyLevel | undefined
  readonly allowed?: readonly string[] | undefined
  readonly denied?: readonly string[] | undefined
  /** Nobody is asked: what the policy leaves to a person is denied. */
  readonly autoContinue?: boolean | undefined
  /** The folder for the workspace of a new task. */
  readonly base?: string | undefined
}

export interface Onlooker {
  tell(event: RunTold): void
  /** A person who can be asked. */
  readonly ask?: Ask | undefined
}

export interface RunValue {
  readonly agent: string
  /** Empty when all went well. */
  readonly reason: string
  /** Of a plain command. */
  readonly exitCode: number | undefined
  readonly conversation: string | undefined
  readonly strays: readonly Stray[]
  /** Puts stray refs back, when it is undone. */
  readonly operation: string | undefined
}

/** Runs an agent, or any command, in the workspace of a task: a policy before each tool call, a step after it. */
export async function runAgent(
  ports: Ports,
  input: RunInput,
  onlooker?: Onlooker,
  signal: AbortSignal = new AbortController().signal,
): Promise<EndedRun<RunValue>> {
  const settings = await ports.settings.read((await ports.locate(input.dir)).checkout)
  const policy = policyOf(settings, input)
  const resumed = input.resume ? await findResumed(ports, input) : undefined
  const name = nameOf(settings, input, resumed?.task)
  const agent = await chooseAgent(ports, input.dir, name, policy.level)
  const onOutput = onlooker && told(onlooker)
  const found = resumed ?? (await taskFor(ports, input, signal, onlooker))
  const work = (run: ActiveRun) =>
    attend(ports, found.repo, run, { agent, policy, input, settings, onlooker, signal })
  // A command is known by its own name.
  const label = (agent.name === 'command' && input.argv?.[0]) || agent.name
  const running = () => withRun(ports, found, label, work, signal, { onOutput })
  if (input.argv && !input.starts) return running()
  const limit = settings.limits.concurrent
  return inTurn(ports, found.repo, limit, () => onlooker?.tell({ event: 'queued', limit }), running, signal)
}

export function policyOf({ policy }: Settings, input: RunInput): Policy {
  return {
    level: input.policy ?? policy.level,
    allowed: [...policy.allowed, ...(input.allowed ?? [])],
    denied: [...policy.denied, ...(input.denied ?? [])],
  }
}

export function nameOf({ agent }: Settings, input: RunInput, resumed?: Task): string | undefined {
  return input.agent === undefined && input.argv
    ? 'command'
    : (input.agent ?? resumed?.conversation?.agent ?? (agent.name || undefined))
}

/** The task that is named, or the one that has the conversation: that of the id, or the last one. */
async function findResumed(ports: Ports, { dir, task: name, resume }: RunInput): Promise<Found> {
  if (name !== undefined) return requireTask(ports, dir, name)
  const here = await requireTask(ports, dir, undefined).catch(() => undefined)
  if (here && resume === true) return here
  const { repo } = await findRepo(ports, dir)
  const fits = ({ conversation }: Task) =>
    conversation !== undefined && (resume === true || conversation.id === resume)
  const [task] = (await ports.store.readTasks({ repo: repo?.id ?? '', open: true }))
    .filter(fits)
    .toSorted((one, other) => other.lastActiveAt.localeCompare(one.lastActiveAt))
  if (repo && task) return { repo, task }
  throw new AppError('WT_007', 'No open task has that conversation.', { hint: 'Name the task: --task ID' })
}

interface Found {
  readonly repo: Repo
  readonly task: Task
}

/** What a hook says is told like the output of a command. */
function told(onlooker: Onlooker): CommandCall['onOutput'] {
  return (stream, text) => onlooker.tell({ event: 'output', stream, text })
}

async function taskFor(
  ports: Ports,
  input: RunInput,
  signal: AbortSignal,
  onlooker: Onlooker | undefined,
): Promise<Found> {
  if (!input.starts) return requireTask(ports, input.dir, input.task)
  const title =
    input.task === undefined ? ((input.argv && commandLine(input.argv)) ?? input.prompt) : undefined
  const { dir, base } = input
  const watched = onlooker && {
    onOutput: told(onlooker),
    onProgress: (progress: Progress) => onlooker.tell({ event: 'progress', ...progress }),
  }
  const asked = { dir, task: input.task, title, base, ...watched }
  const { task } = await start(ports, asked, signal).catch((thrown: unknown) => {
    throw beforeRun(appError(thrown))
  })
  return requireTask(ports, dir, task.id)
}

/** Nothing has run yet: whoever frees space can try it again. */
function beforeRun(error: AppError): AppError {
  if (error.code !== 'WT_014') return error
  const { code, message, hint, path: where, cause } = error
  return new AppError(code, message, { hint, path: where, cause, data: { ...error.data, started: false } })
}

interface Attended {
  readonly agent: Agent
  readonly policy: Policy
  readonly input: RunInput
  readonly settings: Settings
  readonly onlooker: Onlooker | undefined
  readonly signal: AbortSignal
}

async function attend(ports: Ports, repo: Repo, run: ActiveRun, about: Attended): Promise<RunEnd<RunValue>> {
  const { agent, policy, input, onlooker } = about
  const { task } = run
  const tell = (event: RunTold) => onlooker?.tell(event)
  tell({ event: 'started', task, run: run.id, agent: agent.name })
  const before = await ports.git.readSurroundings(repo.place)
  const permit = await permits(ports, run, {
    policy,
    place: { workspace: task.path, free: [ports.temp], home: ports.userHome },
    tell,
    ask: input.autoContinue ? undefined : onlooker?.ask,
  })
  const attended = attendance(ports, run, { agent: agent.name, tell, permit })
  const handed = {
    prompt: input.prompt ?? '',
    argv: input.argv,
    conversationId: conversationOf(task, agent, input.resume),
    terminal: onlooker === undefined,
  }
  const look = async () => {
    const after = await ports.git.readSurroundings(repo.place)
    const changes = strays(before, after, await branchesOf(ports, repo))
    return { changes, operation: await tellStrays(ports, repo, run, changes, tell) }
  }
  const cut = await converse(ports, run, about, handed, attended.take).catch(async (thrown: unknown) => {
    await look().catch(() => {})
    throw thrown
  })
  const { changes, operation } = await look()
  const end: AgentEnd = attended.end()
  const reason = cut ?? (end.ok ? '' : end.reason)
  const value = {
    agent: agent.name,
    reason,
    exitCode: end.exitCode,
    conversation: attended.conversation(),
    strays: changes,
    operation,
  }
  // Whoever stops an agent, or runs a command in a task by exec, as its tests, sees what came of it.
  const harmless = cut !== undefined || (input.argv !== undefined && !input.starts)
  return { value, reason, harmless, ...(end.step ?? { tool: 'sweep', summary: 'at the end of the run' }) }
}

async function tellStrays(
  ports: Ports,
  repo: Repo,
  { id, task }: ActiveRun,
  changes: readonly Stray[],
  tell: Onlooker['tell'],
): Promise<string | undefined> {
  if (changes.length === 0) return undefined
  const event = { type: 'run.strayed', run: id, changes } as const
  await append(ports, task.uid, event, ports.clock.now().toISOString())
  tell({ event: 'strayed', changes })
  return keepStrays(ports, repo, task, changes)
}

/** From the first event to the last; answers why it was cut short, if it was. */
async function converse(
  ports: Ports,
  run: ActiveRun,
  { agent, settings, signal }: Attended,
  handed: AgentInput,
  take: Attendance['take'],
): Promise<string | undefined> {
  const { timeMinutes, turns: maxTurns } = settings.limits
  const count = turnCounter()
  const late = timeMinutes > 0 ? AbortSignal.timeout(timeMinutes * 60_000) : undefined
  const cell = cellOf(ports, run)
  try {
    for await (const event of agent.run(handed, cell, late ? AbortSignal.any([signal, late]) : signal)) {
      // What it wants to do now waits for an answer that never comes.
      if (maxTurns > 0 && count(event) > maxTurns) return `limits.turns: ${maxTurns} answers are over`
      await take(event)
    }
  } catch (error) {
    if (signal.aborted || !late?.aborted) throw error
    return `limits.timeMinutes: ${timeMinutes} minutes are over`
  } finally {
    await clearRoom(ports, run.id)
  }
  return findStop(ports, run)
}

const roomOf = (ports: Ports, run: string) => path.join(ports.home, 'rooms', run)

/** For what an adapter has to write for its agent. */
export async function makeRoom(ports: Ports, run: string): Promise<string> {
  const room = roomOf(ports, run)
  await ports.files.makeFolder(room, 0o700)
  return room
}

/** Takes away what an adapter had to write for its agent. */
export async function clearRoom(ports: Ports, run: string): Promise<void> {
  const room = roomOf(ports, run)
  if ((await ports.files.readKind(room)) !== undefined) await ports.files.remove(room)
}

function cellOf(ports: Ports, run: ActiveRun): Cell {
  const { id, task } = run
  const own = { OFFSHOOT_RUN: id, ...taskEnvironment(task) }
  return {
    workspace: task.path,
    home: ports.userHome,
    makeRoom: () => makeRoom(ports, id),
    run: ({ env, ...call }, signal) =>
      ports.commands.run({ ...call, cwd: task.path, env: { ...env, ...own } }, signal),
  }
}

/** An agent that was stopped only knows that it was killed. */
async function findStop(ports: Ports, { id, task }: ActiveRun): Promise<string | undefined> {
  return (await ports.store.readEvents({ uid: task.uid, types: ['run.stopping'] })).flatMap(({ event }) =>
    event.type === 'run.stopping' && event.run === id ? [event.reason] : [],
  )[0]
}

async function branchesOf(ports: Ports, repo: Repo): Promise<Set<string>> {
  return new Set((await ports.store.readTasks({ repo: repo.id })).map((task) => branchRef(task.branch)))
}

function conversationOf(
  { conversation, id }: Task,
  agent: Agent,
  resume: RunInput['resume'],
): string | undefined {
  if (resume === undefined || resume === false) return undefined
  if (typeof resume === 'string') return resume
  if (conversation?.agent === agent.name) return conversation.id
  throw new AppError('WT_005', `There is no conversation of ${agent.title} in ${id} to go on with.`, {
    hint: `Begin one: offshoot run --task ${id} "…"`,
  })
}
