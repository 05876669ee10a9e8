/** What every agent is to the verbs. An adapter only translates: its agent's own protocol into these events, and back. */

export type ToolKind = 'read' | 'edit' | 'shell' | 'fetch' | 'other'

/** One use of a tool, in words that all agents share. */
export interface ToolCall {
  /** The agent's own id of it. */
  readonly id?: string | undefined
  readonly name: string
  readonly kind: ToolKind
  readonly input: unknown
  /** What a shell is given. */
  readonly command?: string | undefined
  /** The files that it reads or writes, where it names them all; absolute, or as seen from the workspace. */
  readonly files?: readonly string[] | undefined
}

/** Whether a tool may run. The reason of a denial is told to the agent. */
export type Permission = { readonly allow: true } | { readonly allow: false; readonly reason: string }

export type AgentEvent =
  | { readonly type: 'started'; readonly conversationId: string }
  | { readonly type: 'message'; readonly text: string }
  /** What a command prints, where it does not speak to the terminal itself. */
  | { readonly type: 'output'; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | ({ readonly type: 'toolStarted' } & ToolCall)
  /** The agent waits for the answer. */
  | {
      readonly type: 'asked'
      readonly permission: ToolCall
      readonly answer: (verdict: Permission) => void
    }
  /** An exact agent waits for `release`, so that what is there now is the work of this call. */
  | ({ readonly type: 'toolEnded'; readonly ok: boolean; readonly release: () => void } & ToolCall)
  | { readonly type: 'usage'; readonly inputTokens: number; readonly outputTokens: number }
  | ({ readonly type: 'ended' } & AgentEnd)

export interface AgentEnd {
  readonly ok: boolean
  /** Why not; empty when all went well. */
  readonly reason: string
  /** Of a plain command. */
  readonly exitCode?: number | undefined
  /** What the last step is called, where that is no sweep. */
  readonly step?: { readonly tool: string; readonly summary: string } | undefined
}

export interface AgentInput {
  readonly prompt: string
  /** The command line of a plain command. */
  readonly argv?: readonly string[] | undefined
  /** Of an earlier run: what to go on with. */
  readonly conversationId?: string | undefined
  /** It may speak to the terminal itself. */
  readonly terminal: boolean
}

/** What a user can say to the agent itself, in words that it then follows. */
export interface SlashCommand {
  readonly name: string
  readonly summary: string
  readonly prompt: string
  /** The agent is not to think of it by itself. */
  readonly byUser: boolean
}

/** A file of an agent's, in a folder below the workspace that holds nothing but files of ours. */
export interface SlashFile {
  readonly folder: string
  readonly name: string
  readonly content: string
}
