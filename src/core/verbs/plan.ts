/** The verb plan: checks what runs would begin with, and makes nothing. */
import type { Ports } from '../ports/index.ts'
import { planRun } from '../runs/plan-run.ts'
import type { RunInput } from '../runs/run-input.ts'

export interface PlanInput extends Pick<RunInput, 'dir' | 'policy' | 'allowed' | 'denied'> {
  /** By default one run, of the agent of the settings or the first that is installed. */
  readonly agents?: readonly string[] | undefined
}

/** The agent of each run. Throws what the first run would throw that cannot begin. */
export async function plan(ports: Ports, { agents, ...input }: PlanInput): Promise<string[]> {
  const chosen: string[] = []
  for (const agent of agents ?? [undefined])
    chosen.push((await planRun(ports, { ...input, agent, create: true, prompt: '' })).agent.name)
  return chosen
}
