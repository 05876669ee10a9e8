/**
 * The control group of a run, where the kernel lets us make one. A process can clear its environment and leave its parents,
 * but it stays in its group (docs/adr/0042-what-an-agent-may-do.md).
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs'
import path from 'node:path'

const prefix = 'offshoot-'

/** Makes the group, and answers the file by which a process enters it; undefined where there is none to be had. */
export function makeControlGroup(run: string): { readonly enter: string; remove(): void } | undefined {
  const parent = ownFolder()
  if (parent === undefined) return undefined
  removeEmpty(parent)
  const folder = path.join(parent, `${prefix}${run}`)
  try {
    mkdirSync(folder)
  } catch {
    return undefined
  }
  return { enter: path.join(folder, 'cgroup.procs'), remove: () => removeGroup(folder) }
}

/** The run whose group a process is in, from the text of its `/proc/PID/cgroup`. */
export function runOfGroup(text: string): string | undefined {
  return /^0::.*?\/offshoot-([\w-]+)(?:\/|$)/m.exec(text)?.[1]
}

/** The folder of the group that we are in; undefined without version 2 of control groups. */
function ownFolder(): string | undefined {
  try {
    const own = /^0::(\/.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1]
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
    const mount = /^\S+ \S+ \S+ \/ (\S+) .* - cgroup2 /m.exec(mounts)?.[1]
    return own === undefined || mount === undefined ? undefined : path.join(mount, own)
  } catch {
    return undefined
  }
}

/** Groups that a killed offshoot left. One that holds a process stays. */
function removeEmpty(parent: string): void {
  try {
    for (const name of readdirSync(parent)) if (name.startsWith(prefix)) removeGroup(path.join(parent, name))
  } catch {
    // Nothing to remove that we may see.
  }
}

function removeGroup(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // A process is still in it: the next run tries again.
  }
}
