/** What a run is asked for, with or without a task. */
import type { Policy } from './policy.ts'
import type { PolicyLevel } from '../model/enums.ts'
import type { Task } from '../model/task.ts'

export interface RunInput {
  readonly dir: string
  /** Of an open task, or of one to be started. */
  readonly task?: string | undefined
  /** Whether a task that is not there is started. */
  readonly create: boolean
  /** By default the one of the settings, else the first that is installed. */
  readonly agent?: string | undefined
  /** Any command, instead of an agent. */
  readonly argv?: readonly string[] | undefined
  readonly prompt?: string | undefined
  /** Go on with the last conversation, or with that one. */
  readonly resume?: boolean | string | undefined
  readonly policy?: PolicyLevel | undefined
  readonly allowed?: readonly string[] | undefined
  readonly denied?: readonly string[] | undefined
  /** Nobody is asked: what the policy leaves to a person is denied. */
  readonly autoContinue?: boolean | undefined
  /** The folder for the workspace of a new task. */
  readonly base?: string | undefined
}

/** The policy of the settings, with what was asked for on top. */
export function policyOf({ policy }: { readonly policy: Policy }, input: RunInput): Policy {
  return {
    level: input.policy ?? policy.level,
    allowed: [...policy.allowed, ...(input.allowed ?? [])],
    denied: [...policy.denied, ...(input.denied ?? [])],
  }
}

/** The agent that was asked for, that of the conversation, or that of the settings; undefined leaves it open. */
export function agentName(
  { agent }: { readonly agent: { readonly name: string } },
  input: RunInput,
  resumed?: Task,
): string | undefined {
  return input.agent === undefined && input.argv
    ? 'command'
    : (input.agent ?? resumed?.conversation?.agent ?? (agent.name || undefined))
}
