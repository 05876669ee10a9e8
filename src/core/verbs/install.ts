import path from 'node:path'
import { now } from '../base/time.ts'
import type { Agent } from '../ports/agent.ts'
import { fromText } from '../model/bytes.ts'
import { AppError } from '../model/errors.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import { readAgents } from '../runs/choose-agent.ts'
import { slashCommands } from '../runs/slash-commands.ts'
import { requireTask } from '../tasks/find.ts'
import { requireOpen } from '../tasks/guards.ts'
import { holdTask } from '../tasks/hold.ts'
import { append } from '../tasks/records.ts'
import { isFreeIn } from '../workspaces/include.ts'
import { requireWorkspace } from '../workspaces/recreate.ts'

export interface InstallInput {
  readonly dir: string
  readonly task?: string | undefined
  /** Only for that one; by default for every agent that knows such commands. */
  readonly agent?: string | undefined
}

export interface Installed {
  readonly task: Task
  /** As seen from the workspace. */
  readonly files: readonly string[]
  /** Something else has that name: it stays. */
  readonly skipped: readonly string[]
}

/**
 * Puts our commands where the agents look for them, in the workspace alone. They are no work of the agent's: git does not
 * see them, and no step holds them.
 */
export async function install(ports: Ports, input: InstallInput, signal?: AbortSignal): Promise<Installed> {
  const { agents } = await readAgents(ports, input.dir)
  const wanted = planned(agents, input.agent)
  const { repo, task: named } = await requireTask(ports, input.dir, input.task)
  if (named.shadow)
    throw new AppError('wrongUsage', `${named.id} works in your own checkout: nothing is put there.`, {
      path: named.path,
      hint: 'Use a task with a workspace of its own, or say the commands in a terminal.',
    })
  return holdTask(ports, named, { verb: 'install', signal }, async () => {
    const task = await requireOpen(ports, named)
    await requireWorkspace({ ports, repo, task })
    const free: [string, string][] = []
    const skipped: string[] = []
    for (const [file, content] of wanted) {
      if (await isFreeIn(ports, task.path, file)) free.push([file, content])
      else if ((await ports.files.readText(path.join(task.path, file))) !== content) skipped.push(file)
    }
    // Before any of it is there: from its first moment on it is in no step.
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

/** Each folder is ours alone, and hides itself. Pure. */
function planned(agents: readonly Agent[], name: string | undefined): Map<string, string> {
  const able = agents.filter((agent) => agent.slash && (name === undefined || agent.name === name))
  if (able.length === 0) {
    const known = agents.filter((agent) => agent.slash).map((agent) => agent.name)
    throw new AppError('wrongUsage', `${name} knows no commands of a user's own.`, {
      hint: `One of: ${known.join(', ')}`,
    })
  }
  const files = new Map<string, string>()
  for (const command of slashCommands)
    for (const { slash } of able) {
      const file = slash?.(command)
      if (!file) continue
      files.set(`${file.folder}/.gitignore`, '*\n')
      files.set(`${file.folder}/${file.name}`, file.content)
    }
  return files
}
