import { spawn } from 'node:child_process'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { until } from './processes.ts'
import type { TestRepo } from './repo.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

/** Starts the real command and ends it as a power cut would, as soon as the condition holds. */
export async function killWhen(repo: TestRepo, args: string[], condition: () => boolean): Promise<void> {
  const child = spawn(process.execPath, [bin, ...args], { cwd: repo.dir, env: repo.env, stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('close', resolve))
  onTestFinished(() => void child.kill('SIGKILL'))
  await until(() => child.exitCode !== null || condition(), args.join(' '))
  child.kill('SIGKILL')
  await ended
}
