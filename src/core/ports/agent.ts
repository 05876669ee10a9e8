/** A coding agent that `run` can start; implemented by each file of src/agents, and by modules of the user. */
import type { AgentEvent, AgentInput, SlashCommand, SlashFile } from '../model/agent.ts'
import type { Cell } from './sandbox.ts'

export interface Agent {
  /** The name that `--agent` takes. */
  readonly name: string
  readonly title: string
  /** The name of its program in PATH; undefined for an agent without a program of its own. */
  readonly program?: string | undefined
  /** The command line that installs it. */
  readonly install?: string | undefined
  /** Each tool call gets its own step. Otherwise calls that ran at the same time may share one step. */
  readonly exact: boolean
  /** The agent asks before each tool call, so a policy can be enforced. */
  readonly asks: boolean
  /**
   * Files and folders of the workspace whose settings it obeys, and which can make it run something: the user has to trust
   * them first. Left out: any that an agent of offshoot obeys.
   */
  readonly obeys?: readonly string[] | undefined
  /** The file in which the agent finds a slash command, and its content; left out when the agent has no slash commands. */
  readonly slash?: ((command: SlashCommand) => SlashFile) | undefined
  /** Runs the agent in the cell and yields its events; the last one is `ended`. */
  run(input: AgentInput, cell: Cell, signal: AbortSignal): AsyncIterable<AgentEvent>
}
