/** A command of ours that goes on by itself, whatever becomes of us. */
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { startApart } from './spawn.ts'

/** How much it gives way to what somebody waits for. */
const niceness = 10

export function startBehind(args: readonly string[], env: NodeJS.ProcessEnv): void {
  // Where we are a part of another program, that is what would be started.
  if (process.versions.electron !== undefined) return
  const manifest = fileURLToPath(import.meta.resolve('offshoot/package.json'))
  const command = path.join(path.dirname(manifest), 'bin', 'offshoot.js')
  // Not in the user's folder, which they may want to move or unmount.
  const cwd = path.parse(manifest).root
  const child = startApart({ program: process.execPath, args: [command, ...args], cwd, env }, [
    'ignore',
    'ignore',
    'ignore',
  ])
  try {
    if (child.pid !== undefined) os.setPriority(child.pid, niceness)
  } catch {
    // It has ended already, or may not be slowed down.
  }
}
