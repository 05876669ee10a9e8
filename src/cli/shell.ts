/** Where a command line is typed: the folder, the environment, what the command prints to, and who answers its questions. */
import { isTerminal, write } from './stdout.ts'

export interface Shell {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly stdout: Outlet
  readonly stderr: Outlet
  /** The answer in lower case; undefined where nobody could answer. */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>
}

/** Its properties are asked for only where they matter: loading the streams of Node takes a tenth of the time of a short command. */
export interface Outlet {
  readonly isTerminal: boolean
  /** Undefined where there is no terminal, or where it does not say. */
  readonly columns: number | undefined
  readonly rows: number | undefined
  write(text: string): void
}

/** The shell that this process was started in. */
export const ownShell: Shell = {
  get cwd() {
    return process.cwd()
  },
  env: process.env,
  stdout: {
    get isTerminal() {
      return isTerminal()
    },
    get columns() {
      return isTerminal() ? process.stdout.columns || undefined : undefined
    },
    get rows() {
      return isTerminal() ? process.stdout.rows || undefined : undefined
    },
    write,
  },
  stderr: {
    get isTerminal() {
      return process.stderr.isTTY
    },
    get columns() {
      return process.stderr.columns || undefined
    },
    get rows() {
      return process.stderr.rows || undefined
    },
    write: (text) => void process.stderr.write(text),
  },
  ask: async (question, signal) => (await import('./ask.ts')).ask(question, signal),
}
