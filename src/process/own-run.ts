/** The run that this process belongs to. A file of its own, because reading commands need it and nothing else here. */
import { readFileSync } from 'node:fs'
import { runOfGroup } from './control-group.ts'

/** A child that left its group and session still has the environment that it was started with. */
export const mark = (run: string) => `OFFSHOOT_RUN=${run}`

/** The mark of this process or of one of its parents: an agent can clear its own environment, not its parents'. */
export function findOwnRun(env: NodeJS.ProcessEnv): string | undefined {
  if (env.OFFSHOOT_RUN || process.platform !== 'linux') return env.OFFSHOOT_RUN || undefined
  const grouped = runOfGroup(readProc('self', 'cgroup'))
  if (grouped !== undefined) return grouped
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

/** Empty when the process has ended, or belongs to another user. */
export function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}
