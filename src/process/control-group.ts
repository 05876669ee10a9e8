/**
 * The control group of a run, where the kernel lets us make one. A process can clear its environment and leave its parents,
 * but it stays in its group (docs/adr/0042-what-an-agent-may-do.md).
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync } from 'node:fs'
import path from 'node:path'

/** The group of one of our runs: a folder that somebody else calls offshoot-… is none. */
const ownName = /^offshoot-[0-9a-v]{20}$/

/** The program of a younger group may still wait at its gate. The kernel's time of a folder is never too early. */
const youngMs = 60_000

/** Makes the group, and answers the file by which a process enters it; undefined where there is none to be had. */
export function makeControlGroup(
  run: string,
  parent = ownFolder(),
): { readonly enter: string; remove(): void } | undefined {
  const name = `offshoot-${run}`
  if (parent === undefined || !ownName.test(name)) return undefined
  removeLeft(parent)
  const folder = path.join(parent, name)
  try {
    mkdirSync(folder)
  } catch (thrown) {
    // An earlier command of the same run made it.
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') return undefined
  }
  return { enter: path.join(folder, 'cgroup.procs'), remove: () => removeGroup(folder) }
}

/** The run whose group a process is in, from the text of its `/proc/PID/cgroup`. */
export function runOfGroup(text: string): string | undefined {
  return /^0::.*?\/offshoot-([0-9a-v]{20})(?:\/|$)/m.exec(text)?.[1]
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
function removeLeft(parent: string): void {
  try {
    const folders = readdirSync(parent)
      .filter((name) => ownName.test(name))
      .map((name) => path.join(parent, name))
    for (const folder of folders) if (Date.now() - statSync(folder).mtimeMs > youngMs) removeGroup(folder)
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
