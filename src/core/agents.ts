import type { Agent } from './agent.ts'
import { AppError } from './errors.ts'
import type { PolicyLevel } from './policy-levels.ts'
import type { Ports } from './ports.ts'

export interface FoundAgent {
  readonly name: string
  readonly title: string
  readonly exact: boolean
  readonly asks: boolean
  /** Where its program is; null when it is not installed. */
  readonly path: string | null
  readonly version: string | null
  readonly install: string | null
}

/** Every agent that can be run, and whether it is there. */
export async function agents(ports: Ports, signal?: AbortSignal): Promise<FoundAgent[]> {
  return Promise.all(
    ports.agents.map(async ({ name, title, exact, asks, program, install = null }) => {
      const path = (program === undefined ? undefined : ports.commands.findProgram(program)) ?? null
      const version = path === null ? null : await readVersion(ports, path, signal)
      return { name, title, exact, asks, path, version, install }
    }),
  )
}

async function readVersion(ports: Ports, path: string, signal?: AbortSignal): Promise<string | null> {
  let said = ''
  const call = {
    argv: [path, '--version'],
    cwd: ports.userHome,
    env: {},
    onOutput: (stream: string, text: string) => void (stream === 'stdout' && (said += text)),
    onStart: (input: { end(): void }) => input.end(),
  }
  const code = await ports.commands.run(call, signal).catch(() => 1)
  return code === 0 ? (/\d+\.\d+\.\d+\S*/.exec(said)?.[0] ?? null) : null
}

/** The one that was asked for, else the first that is installed. A policy that cannot be kept is refused. */
export function chooseAgent(ports: Ports, name: string | undefined, level: PolicyLevel): Agent {
  const agent = name === undefined ? firstInstalled(ports) : requireAgent(ports, name)
  if (level === 'strict' && !agent.asks) {
    throw new AppError(
      'WT_017',
      `${agent.title} cannot be asked before it acts: the policy strict is not kept.`,
      {
        hint: 'Choose another policy, or an agent that asks: offshoot agents',
      },
    )
  }
  return agent
}

function requireAgent(ports: Ports, name: string): Agent {
  const agent = ports.agents.find((one) => one.name === name)
  if (!agent) {
    const known = ports.agents.map((one) => one.name).join(', ')
    throw new AppError('WT_019', `There is no agent ${JSON.stringify(name)}.`, { hint: `One of: ${known}` })
  }
  if (agent.program !== undefined && ports.commands.findProgram(agent.program) === undefined) {
    throw new AppError('WT_005', `${agent.title} is not installed.`, { hint: `Install it: ${agent.install}` })
  }
  return agent
}

function firstInstalled(ports: Ports): Agent {
  const agent = ports.agents.find(
    ({ program }) => program !== undefined && ports.commands.findProgram(program) !== undefined,
  )
  if (agent) return agent
  throw new AppError('WT_005', 'No agent is installed here.', {
    hint: `Install one (${ports.agents[0]?.install}), or run any command: offshoot run -- COMMAND`,
  })
}
