import type { Agent } from './model/agent.ts'
import { AppError } from './model/errors.ts'
import { type KnownAgents, readAgents } from './own-agents.ts'
import type { PolicyLevel } from './model/enums.ts'
import type { Ports } from './ports/index.ts'

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
export async function agents(ports: Ports, dir: string, signal?: AbortSignal): Promise<FoundAgent[]> {
  const known = await readAgents(ports, dir)
  return Promise.all(
    known.agents.map(async ({ name, title, exact, asks, program, install = null }) => {
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
export async function chooseAgent(
  ports: Ports,
  dir: string,
  name: string | undefined,
  level: PolicyLevel,
): Promise<Agent> {
  const known = await readAgents(ports, dir)
  const agent = name === undefined ? firstInstalled(ports, known) : requireAgent(ports, known, name)
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

function requireAgent(ports: Ports, { agents, untrusted }: KnownAgents, name: string): Agent {
  const agent = agents.find((one) => one.name === name)
  if (!agent && untrusted.length > 0) {
    const hint = 'offshoot trust shows what it is, and allows it.'
    throw new AppError('WT_017', `${name} may be in ${untrusted.join(', ')}, which you have not trusted.`, {
      hint,
    })
  }
  if (!agent) {
    const names = agents.map((one) => one.name).join(', ')
    throw new AppError('WT_019', `There is no agent ${JSON.stringify(name)}.`, { hint: `One of: ${names}` })
  }
  if (agent.program !== undefined && ports.commands.findProgram(agent.program) === undefined) {
    const hint =
      agent.install === undefined ? `Put ${agent.program} into PATH.` : `Install it: ${agent.install}`
    throw new AppError('WT_005', `${agent.title} is not installed.`, { hint })
  }
  return agent
}

function firstInstalled(ports: Ports, { agents }: KnownAgents): Agent {
  const agent = agents.find(
    ({ program }) => program !== undefined && ports.commands.findProgram(program) !== undefined,
  )
  if (agent) return agent
  throw new AppError('WT_005', 'No agent is installed here.', {
    hint: `Install one (${agents[0]?.install}), or run any command: offshoot run -- COMMAND`,
  })
}
