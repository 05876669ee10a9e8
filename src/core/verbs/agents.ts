/** The verb agents: lists the agents, and which of them are installed. */
import type { Ports } from '../ports/index.ts'
import { readAgents } from '../runs/choose-agent.ts'

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

/** Every agent that can run, and the path of its program. */
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
