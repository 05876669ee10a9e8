/** Running a command of the user's on this machine. */

export interface CommandCall {
  readonly argv: readonly string[]
  readonly cwd: string
  /** Added to the environment of ours. */
  readonly env: Readonly<Record<string, string>>
  /** Takes what the command says; without it the command speaks to the terminal itself. */
  readonly onOutput?: ((stream: 'stdout' | 'stderr', text: string) => void) | undefined
  /** Takes its input in hand; without it the command reads from the terminal itself. */
  readonly onStart?: ((input: CommandStdin) => void) | undefined
}

export interface CommandStdin {
  write(text: string): void
  end(): void
}

export interface Commands {
  /**
   * Runs a command to its end and answers its exit code. It ends with all that it started: when it is over, when it
   * is cancelled, and when we are killed.
   */
  run(call: CommandCall, signal?: AbortSignal): Promise<number>
  /** Where a program is, as the shell finds it. */
  findProgram(program: string): string | undefined
}
