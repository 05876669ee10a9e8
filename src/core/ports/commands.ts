/** Programs that offshoot runs for itself, such as `gh`; implemented by src/process. Agents and hooks run in a cell. */
import type { CommandCall } from '../model/command.ts'

/** Runs programs on this machine. */
export interface Commands {
  /**
   * Runs a command to its end and answers its exit code. The processes that it started end with it: when it exits, when it
   * is cancelled, and when offshoot is killed.
   */
  run(call: CommandCall, signal?: AbortSignal): Promise<number>
  /** The full path of a program in PATH. */
  findProgram(program: string): string | undefined
}
