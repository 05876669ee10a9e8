/** The run that a process belongs to. By itself: also commands that only look ask, and need nothing else of the processes. */
import { readFileSync } from 'node:fs'

/** A child that has left its group and its session still has the environment that it was started with. */
export const mark = (run: string) => `OFFSHOOT_RUN=${run}`

/** The mark that we carry ourselves, or a process above us. An agent can clear its own environment, not its parents'. */
export function findOwnRun(env: NodeJS.ProcessEnv): string | undefined {
  if (env.OFFSHOOT_RUN || process.platform !== 'linux') return env.OFFSHOOT_RUN || undefined
  for (let pid = String(process.ppid); Number(pid) > 1; ) {
    const marked = readProc(pid, 'environ')
      .split('\0')
      .find((variable) => variable.startsWith(mark('')))
    if (marked !== undefined) return marked.slice(mark('').length)
    const stat = readProc(pid, 'stat')
    pid = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? '0'
  }
  return undefined
}

/** Empty when it has ended, or when it is somebody else's. */
export function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}
