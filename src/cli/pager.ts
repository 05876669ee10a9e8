/** Shows long text page by page, at a terminal. */
import { startAtTerminal } from '../process/spawn.ts'

/**
 * Shows long text as git does: `GIT_PAGER`, else `PAGER`, else less. What a repository's own config names is not run,
 * since an agent may have written it. Answers false when there is no pager to show it.
 */
export function page(words: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const pager = env.GIT_PAGER ?? env.PAGER ?? 'less'
  if (pager === '' || pager === 'cat') return Promise.resolve(false)
  return new Promise((resolve) => {
    // As git sets them: quit if it fits on one screen, show colours, leave the screen as it is.
    const child = startAtTerminal(pager, { LESS: 'FRX', LV: '-c', ...env })
    child.once('error', () => resolve(false))
    // 127: the shell has not found it.
    child.once('close', (code) => resolve(code !== 127))
    // Whoever quits before the end has seen enough.
    child.stdin.on('error', () => {})
    child.stdin.end(`${words}\n`)
  })
}
