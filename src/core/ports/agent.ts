import type { AgentEvent, AgentInput, SlashCommand, SlashFile } from '../model/agent.ts'
import type { Cell } from './sandbox.ts'

export interface Agent {
  /** What `--agent` calls it. */
  readonly name: string
  readonly title: string
  /** What it is called in PATH; undefined when there is nothing to find. */
  readonly program?: string | undefined
  /** How it is installed. */
  readonly install?: string | undefined
  /** A step is one tool call. Otherwise one may hold all calls that ran at the same time. */
  readonly exact: boolean
  /** It asks before each tool: a policy can be kept. */
  readonly asks: boolean
  /** Where it looks for a command of the user's own, and in which form; left out when it knows none. */
  readonly slash?: ((command: SlashCommand) => SlashFile) | undefined
  run(input: AgentInput, cell: Cell, signal: AbortSignal): AsyncIterable<AgentEvent>
}
