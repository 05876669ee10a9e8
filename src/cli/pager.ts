/** Shows long text in the user's pager. */
import { startAtTerminal } from '../process/spawn.ts'

/**
 * Takes the pager as git does: `GIT_PAGER`, else `PAGER`, else less. It never runs a pager that the repository's config
 * names, since an agent may have written it there. False when there is no pager.
 */
export function page(words: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const pager = env.GIT_PAGER ?? env.PAGER ?? 'less'
  if (pager === '' || pager === 'cat') return Promise.resolve(false)
  return new Promise((resolve) => {
    // The defaults of git: quit if the text fits on one screen, show colours, leave the screen as it is.
    const child = startAtTerminal(pager, { LESS: 'FRX', LV: '-c', ...env })
    child.once('error', () => resolve(false))
    // 127: the shell found no such program.
    child.once('close', (code) => resolve(code !== 127))
    // EPIPE: the user quit the pager before the end, which is no failure.
    child.stdin.on('error', () => {})
    child.stdin.end(`${words}\n`)
  })
}
