/** Chooses the agent of a run, from those of offshoot and from modules that the settings name. */
import { adapterFile, readModules } from '../hooks/files.ts'
import { findUntrusted } from '../hooks/trust.ts'
import type { Agent } from '../ports/agent.ts'
import type { PolicyLevel } from '../model/enums.ts'
import { AppError } from '../model/errors.ts'
import type { Ports } from '../ports/index.ts'
import { findRepo, settingsCheckout } from '../tasks/repo.ts'

export interface KnownAgents {
  /** An agent of the user replaces ours of the same name. */
  readonly agents: readonly Agent[]
  /** Modules of the repository's own settings that the user has not trusted: none of their code runs. */
  readonly untrusted: readonly string[]
}

/** Every agent that can run in that folder; outside of a repository, only those of the user's own settings. */
export async function readAgents(ports: Ports, dir: string): Promise<KnownAgents> {
  const { place, repo } = await findRepo(ports, dir).catch(() => ({ place: undefined, repo: undefined }))
  const checkout = place?.checkout ? await settingsCheckout(ports, place.checkout) : null
  const setting = (await ports.settings.readWithOrigin(checkout)).find(({ key }) => key === 'agent.adapters')
  const { value, waiting, isForeign = false } = setting ?? {}
  const modules = await readModules(ports, checkout, (waiting ?? value ?? []) as readonly string[])
  const files = modules.map((module) => adapterFile(ports, checkout, module.path))
  // The module that was trusted, not another one in its place.
  const changed = isForeign ? await findUntrusted(ports, repo?.id ?? '', modules) : []
  if (waiting !== undefined || changed.length > 0) return { agents: ports.agents, untrusted: files }
  const own = (await Promise.all(files.map((file) => loaded(ports, file)))).flat()
  const names = new Set(own.map(({ name }) => name))
  return { agents: [...ports.agents.filter(({ name }) => !names.has(name)), ...own], untrusted: [] }
}

async function loaded(ports: Pick<Ports, 'loadModule'>, file: string): Promise<Agent[]> {
  const found = (await ports.loadModule(file)).filter(isAgent)
  if (found.length > 0) return found
  throw new AppError('badSettings', `${file} exports no agent.`, {
    path: file,
    hint: 'docs/agents.md tells what an agent is made of.',
  })
}

function isAgent(value: unknown): value is Agent {
  if (typeof value !== 'object' || value === null) return false
  const { name, title, exact, asks, run } = value as Partial<Record<keyof Agent, unknown>>
  return (
    typeof name === 'string' &&
    /^[a-z][\w-]*$/.test(name) &&
    typeof title === 'string' &&
    typeof exact === 'boolean' &&
    typeof asks === 'boolean' &&
    typeof run === 'function'
  )
}

/** The agent that was asked for, else the first that is installed. Throws when it cannot enforce the policy. */
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
      'policyRefused',
      `${agent.title} cannot be asked before it acts: the policy strict is not kept.`,
      {
        hint: 'Choose another policy, or an agent that asks: offshoot agents',
      },
    )
  }
  return agent
}

function requireAgent(
  ports: Pick<Ports, 'commands'>,
  { agents, untrusted }: KnownAgents,
  name: string,
): Agent {
  const agent = agents.find((one) => one.name === name)
  if (!agent && untrusted.length > 0) {
    const hint = 'offshoot trust shows what it is, and allows it.'
    throw new AppError(
      'policyRefused',
      `${name} may be in ${untrusted.join(', ')}, which you have not trusted.`,
      {
        hint,
      },
    )
  }
  if (!agent) {
    const names = agents.map((one) => one.name).join(', ')
    throw new AppError('wrongUsage', `Unknown agent ${JSON.stringify(name)}.`, {
      hint: `--agent takes one of: ${names}`,
    })
  }
  if (agent.program !== undefined && ports.commands.findProgram(agent.program) === undefined) {
    const hint =
      agent.install === undefined ? `Put ${agent.program} into PATH.` : `Install it: ${agent.install}`
    throw new AppError('programMissing', `${agent.title} is not installed.`, { hint })
  }
  return agent
}

function firstInstalled(ports: Pick<Ports, 'commands'>, { agents }: KnownAgents): Agent {
  const agent = agents.find(
    ({ program }) => program !== undefined && ports.commands.findProgram(program) !== undefined,
  )
  if (agent) return agent
  throw new AppError('programMissing', 'No agent is installed on this machine.', {
    hint: `Install one (${agents[0]?.install}), or run any command: offshoot run -- COMMAND`,
  })
}
