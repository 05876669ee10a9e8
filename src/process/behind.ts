/** Starts an offshoot command in the background that outlives us. */
import os from 'node:os'
import path from 'node:path'
import { ownCommand } from './own-command.ts'
import { startApart } from './spawn.ts'

/** How far its priority is lowered, so that it does not slow down commands that a user waits for. */
const niceness = 10

export function startBehind(args: readonly string[], env: NodeJS.ProcessEnv): void {
  // Inside Electron, execPath is the application: it would start that instead of Node.
  if (process.versions.electron !== undefined) return
  const command = ownCommand()
  // The root, because the user may want to move or unmount their folder.
  const cwd = path.parse(command).root
  const child = startApart({ program: process.execPath, args: [command, ...args], cwd, env }, [
    'ignore',
    'ignore',
    'ignore',
  ])
  try {
    if (child.pid !== undefined) os.setPriority(child.pid, niceness)
  } catch {
    // The process has already ended, or we may not lower its priority.
  }
}
