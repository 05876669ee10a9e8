/** The verb run outside of a repository: runs an agent or a command in the folder itself. */
import type { AgentEnd } from '../model/agent.ts'
import { appError, AppError } from '../model/errors.ts'
import { runFolder } from '../model/layout.ts'
import type { Ports } from '../ports/index.ts'
import { chooseAgent } from '../runs/choose-agent.ts'
import { converse, type Onlooker } from '../runs/loop.ts'
import { findSettings } from '../runs/agent-settings.ts'
import { answers } from '../runs/permission.ts'
import { requireTools } from '../runs/known-tools.ts'
import { agentName, flagsOf, type RunInput } from '../runs/run-input.ts'
import { openCell } from '../workspaces/cell.ts'

export interface DirectRun {
  readonly agent: string
  readonly end: AgentEnd
}

/**
 * Runs an agent, or any command, in the folder itself: no task, no steps, no undo. Only where there is no repository at
 * all, and only when the user's settings say so.
 */
export async function runDirect(
  ports: Ports,
  input: RunInput,
  onlooker?: Onlooker,
  signal: AbortSignal = new AbortController().signal,
): Promise<DirectRun> {
  const settings = await ports.settings.read(null, flagsOf(input))
  await requireNoRepo(ports, input.dir, settings.isolation.fallback === 'direct')
  const { policy } = settings
  const agent = await chooseAgent(ports, input.dir, agentName(settings, input), policy.level)
  requireTools(policy, ports.agents.includes(agent))
  const tell: Onlooker['tell'] = (event) => onlooker?.tell(event)
  const place = { workspace: input.dir, free: [ports.temp], closed: [ports.home], home: ports.userHome }
  const { readRealPath } = ports.files
  const ask = input.autoContinue ? undefined : onlooker?.ask
  const permit = answers({ policy, place, readRealPath, tell, ask })
  const run = ports.ids.uid()
  const cell = await openCell(ports, {
    workspace: input.dir,
    env: { OFFSHOOT_RUN: run },
    runFolder: runFolder(ports.home, run),
  })
  const handed = {
    prompt: input.prompt ?? '',
    argv: input.argv,
    terminal: onlooker === undefined,
    // Nobody can trust a folder without a repository.
    projectSettings: (await findSettings(ports, input.dir, agent)).length === 0,
  }
  const attended = { workspace: input.dir, tell, permit }
  const { end } = await converse(agent, handed, cell, attended, { timeMinutes: 0, turns: 0 }, signal)
  return { agent: agent.name, end }
}

/** Throws in any repository, even a damaged one or one of another user: no agent runs there without a task. */
async function requireNoRepo(ports: Pick<Ports, 'locate'>, dir: string, isWanted: boolean): Promise<void> {
  const error = await ports.locate(dir).then(() => undefined, appError)
  if (error === undefined) throw new AppError('wrongUsage', `${dir} is in a git repository: it gets a task.`)
  if (isWanted && error.problem === 'notARepository' && error.path === dir) return
  throw error
}
