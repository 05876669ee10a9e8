/** Opens an address in the user's browser. */
import { findProgram } from '../process/programs.ts'
import { startApart } from '../process/spawn.ts'

/** False when no program is there that opens addresses. */
export function openBrowser(url: string, env: NodeJS.ProcessEnv): boolean {
  const program = findProgram(process.platform === 'darwin' ? 'open' : 'xdg-open', '/', env.PATH)
  if (program === undefined) return false
  startApart({ program, args: [url], cwd: '/', env }, ['ignore', 'ignore', 'ignore'])
  return true
}
