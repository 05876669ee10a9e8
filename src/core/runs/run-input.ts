/** The input of a run, with or without a task. */
import type { Isolation, NotifyWay, PolicyLevel } from '../model/enums.ts'
import type { Task } from '../model/task.ts'
import type { CommandFlags } from '../ports/settings.ts'

export interface RunInput {
  readonly dir: string
  /** The id of an open task, or of one to be started. */
  readonly task?: string | undefined
  /** Starts the task if it does not exist. */
  readonly create: boolean
  /** By default the agent of the settings, else the first that is installed. */
  readonly agent?: string | undefined
  /** Any command, instead of an agent. */
  readonly argv?: readonly string[] | undefined
  readonly prompt?: string | undefined
  /** Go on with the last conversation, or with that one. */
  readonly resume?: boolean | string | undefined
  readonly policy?: PolicyLevel | undefined
  readonly allowed?: readonly string[] | undefined
  readonly denied?: readonly string[] | undefined
  /** Asks nobody: every call that the policy leaves to a person is denied. */
  readonly autoContinue?: boolean | undefined
  /** How long a question waits where nobody is at a terminal: `30s`, `10m`, `2h`. */
  readonly askTimeout?: string | undefined
  /** How the user is told that the run has ended or asks something, instead of what the settings say. */
  readonly notify?: readonly NotifyWay[] | undefined
  /** The place in the queue that the run leaves when it begins. */
  readonly entry?: string | undefined
  /** The folder for the workspace of a new task. */
  readonly base?: string | undefined
  /** Where a new task starts, and how it is kept apart; the same as for the verb start. */
  readonly from?: string | undefined
  readonly branch?: string | undefined
  readonly isolation?: Isolation | undefined
}

/** The options of this run that are settings, too: each replaces the value of the settings, and adds nothing to it. */
export function flagsOf({ policy, allowed, denied, askTimeout, notify }: RunInput): CommandFlags {
  return { policy: { level: policy, allowed, denied, askTimeout }, notify: { how: notify } }
}

/** The name that was asked for, that of the conversation, or that of the settings; undefined: the first installed. */
export function agentName(
  { agent }: { readonly agent: { readonly name: string } },
  input: RunInput,
  resumed?: Task,
): string | undefined {
  return input.agent === undefined && input.argv
    ? 'command'
    : (input.agent ?? resumed?.conversation?.agent ?? (agent.name || undefined))
}
