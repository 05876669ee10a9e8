/** Agents of the user's own: modules that the settings name, each with one or more values of the kind `Agent`. */
import type { Agent } from './model/agent.ts'
import { AppError } from './model/errors.ts'
import type { Ports } from './ports/index.ts'
import { findRepo } from './tasks/repo.ts'
import { adapterFile, readHooks } from './hooks/hooks.ts'
import { isTrusted } from './hooks/trust.ts'

export interface KnownAgents {
  /** One of the user's own stands in for ours of the same name. */
  readonly agents: readonly Agent[]
  /** Modules of the repository's own settings that the user has not trusted: none of their code runs. */
  readonly untrusted: readonly string[]
}

/** All that can be run from that folder; outside of a repository those of the user's settings alone. */
export async function readAgents(ports: Ports, dir: string): Promise<KnownAgents> {
  const place = await ports.locate(dir).catch(() => undefined)
  const checkout = place?.checkout ?? null
  const { adapters } = (await ports.settings.read(checkout)).agent
  if (adapters.length === 0) return { agents: ports.agents, untrusted: [] }
  const hooks = await readHooks(ports, checkout)
  const { repo } = place ? await findRepo(ports, dir) : {}
  const isForeign = hooks.some((one) => one.hook === 'agent.adapters' && one.isForeign)
  const files = adapters.map((file) => adapterFile(ports, checkout, file))
  if (isForeign && !(repo && (await isTrusted(ports, repo.id, hooks))))
    return { agents: ports.agents, untrusted: files }
  const own = (await Promise.all(files.map((file) => loaded(ports, file)))).flat()
  const names = new Set(own.map(({ name }) => name))
  return { agents: [...ports.agents.filter(({ name }) => !names.has(name)), ...own], untrusted: [] }
}

async function loaded(ports: Ports, file: string): Promise<Agent[]> {
  const found = (await ports.loadModule(file)).filter(isAgent)
  if (found.length > 0) return found
  throw new AppError('WT_016', `${file} exports no agent.`, {
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
