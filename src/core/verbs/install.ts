/** The verb install: writes our slash commands into a workspace. */
import path from 'node:path'
import { now } from '../base/time.ts'
import type { Agent } from '../ports/agent.ts'
import { fromText } from '../model/bytes.ts'
import { AppError } from '../model/errors.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { readAgents } from '../runs/choose-agent.ts'
import { commandFiles } from '../runs/slash-commands.ts'
import { withFound } from '../steps/with-task.ts'
import { requireTask } from '../tasks/find.ts'
import { append } from '../tasks/records.ts'
import { isFreeIn } from '../workspaces/include.ts'

export interface InstallInput {
  readonly dir: string
  readonly task?: string | undefined
  /** Only for that agent; by default for every agent with slash commands. */
  readonly agent?: string | undefined
}

export interface Installed {
  readonly task: Task
  /** Relative to the workspace. */
  readonly files: readonly string[]
  /** Paths at which another file exists, which stays. */
  readonly skipped: readonly string[]
}

/**
 * Writes our commands to where the agents look for them, only in the workspace. They are not the agent's work: git ignores
 * them, and no step holds them.
 */
export async function install(ports: Ports, input: InstallInput, signal?: AbortSignal): Promise<Installed> {
  const { agents } = await readAgents(ports, input.dir)
  const wanted = commandFiles(able(agents, input.agent))
  const { repo, task: named } = await requireTask(ports, input.dir, input.task)
  if (named.shadow)
    throw new AppError('wrongUsage', `${named.id} works in your own checkout: nothing is put there.`, {
      path: named.path,
      hint: 'Use a task with a workspace of its own, or say the commands in a terminal.',
    })
  const needs = { state: 'open', checks: ['workspace'] } as const
  return withFound({ ports, repo, task: named, signal }, { verb: 'install', needs }, async ({ task }) => {
    const free: [string, string][] = []
    const skipped: string[] = []
    for (const [file, content] of wanted) {
      if (await isFreeIn(ports, task.path, file)) free.push([file, content])
      else if ((await ports.files.readText(path.join(task.path, file))) !== content) skipped.push(file)
    }
    // Before the first file is written, so that no step can hold one.
    if (free.length > 0)
      await ports.steps.keepOut(
        repo,
        task,
        free.map(([file]) => fromText(file)),
      )
    for (const [file, content] of free) {
      await ports.files.makeFolder(path.dirname(path.join(task.path, file)))
      if (!(await ports.files.writeNew(path.join(task.path, file), content))) skipped.push(file)
    }
    const files = [...wanted.keys()].filter((file) => !skipped.includes(file))
    await append(ports, task.uid, { type: 'installed', files }, now(ports))
    return { task, files, skipped }
  })
}

/** The agents that the commands are for; throws when none of them has commands. Pure. */
function able(agents: readonly Agent[], name: string | undefined): Agent[] {
  const known = agents.filter((agent) => agent.slash)
  const wanted = known.filter((agent) => name === undefined || agent.name === name)
  if (wanted.length > 0) return wanted
  throw new AppError('wrongUsage', `${name} knows no commands of a user's own.`, {
    hint: `--agent takes one of: ${known.map((agent) => agent.name).join(', ')}`,
  })
}
