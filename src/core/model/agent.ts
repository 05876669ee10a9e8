/** The words that all agents share: tool calls, events, input. An adapter translates its agent's own protocol to these. */
import type { UsageTold } from './usage.ts'

export type ToolKind = 'read' | 'edit' | 'shell' | 'fetch' | 'other'

/** One use of a tool, in words that all agents share. */
export interface ToolCall {
  /** The agent's own id of it. */
  readonly id?: string | undefined
  readonly name: string
  readonly kind: ToolKind
  readonly input: unknown
  /** The command line, when the tool is a shell. */
  readonly command?: string | undefined
  /** All files that the call reads or writes, absolute or relative to the workspace; left out unless it names all. */
  readonly files?: readonly string[] | undefined
  /** Why the call cannot be right in a run, whatever the policy says: the agent is told this instead. */
  readonly refusal?: string | undefined
}

/** Whether a tool may run. The agent is given the reason of a denial. */
export type Permission = { readonly allow: true } | { readonly allow: false; readonly reason: string }

export type AgentEvent =
  | { readonly type: 'started'; readonly conversationId: string }
  /** `part`: the next message goes on with it, in the same line. */
  | { readonly type: 'message'; readonly text: string; readonly part?: true | undefined }
  /** Output of a command that does not write to the terminal itself. */
  | { readonly type: 'output'; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | ({ readonly type: 'toolStarted' } & ToolCall)
  /** The agent wants to use a tool, and waits until `answer` is called. */
  | {
      readonly type: 'asked'
      readonly permission: ToolCall
      readonly answer: (verdict: Permission) => void
    }
  | ToolEnded
  /** The command of a call that had been answered before, and went on in the background, is over. */
  | { readonly type: 'backgroundEnded'; readonly id: string }
  /** A tool has run that nobody was asked about, or that was denied. It ends the run. */
  | ({ readonly type: 'unasked' } & ToolCall)
  /** What the agent means to do, all of it; takes the place of the plan before. */
  | { readonly type: 'plan'; readonly entries: readonly PlanEntry[] }
  /** The agent said something that could not be read. */
  | { readonly type: 'malformed'; readonly reason: string }
  | ({ readonly type: 'usage' } & UsageTold)
  | ({ readonly type: 'ended' } & AgentEnd)

/** An exact agent waits until `release` is called, so that the files are the work of this call and of no later one. */
export interface ToolEnded extends ToolCall {
  readonly type: 'toolEnded'
  readonly ok: boolean
  readonly release: () => void
  /** The call is answered, and its command goes on; `backgroundEnded` follows if the agent tells. It needs an id. */
  readonly goesOn?: boolean | undefined
  /** The agent has refused the call itself: an unknown tool, or a wrong input. It has changed nothing. */
  readonly neverRan?: boolean | undefined
  /** The calls themselves, where this stands for several that ran at the same time; those that succeeded come first. */
  readonly batch?: readonly (ToolCall & { readonly ok: boolean })[] | undefined
}

/** One thing that an agent means to do. */
export interface PlanEntry {
  readonly text: string
  readonly state: 'pending' | 'in_progress' | 'completed'
}

export interface AgentEnd {
  readonly ok: boolean
  /** Why the run failed; empty when `ok`. */
  readonly reason: string
  /** Of a plain command only. */
  readonly exitCode?: number | undefined
  /** The name of the last step, unless that step is a sweep. */
  readonly step?: { readonly tool: string; readonly summary: string } | undefined
}

export interface AgentInput {
  readonly prompt: string
  /** The command line of a plain command. */
  readonly argv?: readonly string[] | undefined
  /** The conversation of an earlier run that this run goes on with. */
  readonly conversationId?: string | undefined
  /** The agent may read from and write to the terminal itself. */
  readonly terminal: boolean
  /** The agent may follow the settings that it finds in the workspace. Without, they run nothing and switch nothing off. */
  readonly projectSettings: boolean
}

/** An agent chooses this id, and later it is an argument of the agent's program: it must not look like an option. */
export function isConversationId(id: string): boolean {
  return /^\w[\w-]{0,127}$/.test(id)
}

/** A command that the user types to the agent, such as `/accept`; the agent then follows `prompt`. */
export interface SlashCommand {
  readonly name: string
  readonly summary: string
  readonly prompt: string
  /** Only the user may call it, never the agent on its own. */
  readonly byUser: boolean
}

/** The file in which an agent finds a slash command; `folder` is below the workspace and holds only files of ours. */
export interface SlashFile {
  readonly folder: string
  readonly name: string
  readonly content: string
}
