import { spawn } from 'node:child_process'
import path from 'node:path'
import type { TestRepo } from './repo.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

/** As Claude Code calls it: what it has to say comes on stdin. */
export function hook(
  repo: TestRepo,
  event: string,
  input: object,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [bin, 'hook', 'claude', event], { cwd: repo.dir, env: repo.env })
    const said = { stdout: '', stderr: '' }
    child.stdout.on('data', (chunk) => (said.stdout += chunk))
    child.stderr.on('data', (chunk) => (said.stderr += chunk))
    child.on('close', (code) => resolve({ code, ...said }))
    child.stdin.end(JSON.stringify({ cwd: repo.dir, hook_event_name: event, ...input }))
  })
}
