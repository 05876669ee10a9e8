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
