/** A program to run: its command line, its folder, its environment, and who handles its output and input. */

export interface CommandCall {
  readonly argv: readonly string[]
  readonly cwd: string
  /** Added to the environment of this process. */
  readonly env: Readonly<Record<string, string>>
  /** Is called with the output; without it the command writes to the terminal itself. */
  readonly onOutput?: ((stream: 'stdout' | 'stderr', text: string) => void) | undefined
  /** Is given the stdin of the command; without it the command reads from the terminal itself. */
  readonly onStart?: ((input: CommandStdin) => void) | undefined
}

export interface CommandStdin {
  write(text: string): void
  end(): void
}
