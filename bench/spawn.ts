/** Starts every process that the benchmark compares, git, Node and offshoot alike. */
import { type ChildProcess, spawn } from 'node:child_process'

export interface Place {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** Runs a program to its end and answers what it printed; throws when it fails. */
export async function run(program: string, args: readonly string[], { cwd, env }: Place): Promise<string> {
  const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  child.stdin.end()
  await ended(child, `${program} ${args.join(' ')}`, () => stderr)
  return stdout
}

export function ended(child: ChildProcess, what: string, said = () => ''): Promise<void> {
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) resolve()
      else reject(new Error(`${what} failed (${code ?? signal}): ${said().trim()}`))
    })
  })
}
