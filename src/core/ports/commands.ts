import type { CommandCall } from '../model/command.ts'

export interface Commands {
  /**
   * Runs a command to its end and answers its exit code. It ends with all that it started: when it is over, when it
   * is cancelled, and when we are killed.
   */
  run(call: CommandCall, signal?: AbortSignal): Promise<number>
  /** Where a program is, as the shell finds it. */
  findProgram(program: string): string | undefined
}
