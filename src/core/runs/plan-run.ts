/** Everything of a run that is checked before anything is made: the settings, the agent, and what its policy names. */
import type { Settings } from '../model/settings.ts'
import type { Task } from '../model/task.ts'
import type { Agent } from '../ports/agent.ts'
import type { Ports } from '../ports/index.ts'
import { requireEnabled } from '../tasks/guards.ts'
import { findRepo } from '../tasks/repo.ts'
import { chooseAgent } from './choose-agent.ts'
import { requireTools } from './known-tools.ts'
import { agentName, flagsOf, type RunInput } from './run-input.ts'

export interface RunPlan {
  readonly settings: Settings
  readonly agent: Agent
}

/** `resumed`: the task whose conversation the run goes on with. */
export async function planRun(ports: Ports, input: RunInput, resumed?: Task): Promise<RunPlan> {
  const { place } = await findRepo(ports, input.dir)
  const settings = await ports.settings.read(place.checkout, flagsOf(input))
  requireEnabled(settings)
  const { policy } = settings
  const agent = await chooseAgent(ports, input.dir, agentName(settings, input, resumed), policy.level)
  requireTools(policy, ports.agents.includes(agent))
  return { settings, agent }
}

/** What a run is recorded under: a plain command under its own name. */
export function labelOf({ name }: Agent, { argv }: Pick<RunInput, 'argv'>): string {
  return (name === 'command' && argv?.[0]) || name
}
