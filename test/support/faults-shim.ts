/** A `git` on the PATH that dies before it begins, when it has done its work, or at a chosen system call. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** Whether the last can be done here: strace may be missing, or forbidden. */
export function hasStrace(): boolean {
  try {
    execFileSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Calls that change what is on the disk. */
const changing = 'write,pwrite64,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,rmdir,fsync'

/** Writes the shim into a folder for the PATH. The next call of git, and only that one, reads its death from `when`. */
export function writeShim(folder: string): void {
  const git = execFileSync('which', ['git'], { encoding: 'utf8' }).trim()
  mkdirSync(folder, { recursive: true })
  const file = path.join(folder, 'git')
  writeFileSync(
    file,
    `#!/bin/sh
read -r n 2>/dev/null <'${folder}/when' || exec '${git}' "$@"
: >'${folder}/when'
die() { echo 'killed by SIGKILL' >'${folder}/trace'; kill -KILL $$; }
test "$n" = before && die
test "$n" = after && { '${git}' "$@"; die; }
exec strace -qq -o '${folder}/trace' -e trace=${changing} -e inject=${changing}:signal=KILL:when=$n '${git}' "$@"
`,
  )
  chmodSync(file, 0o755)
}

/** Before or after all of it, or at its nth system call that changes something. */
export type Death = 'before' | 'after' | number

/** The next git dies then. */
export function dieAt(folder: string, n: Death): void {
  writeFileSync(path.join(folder, 'trace'), '')
  writeFileSync(path.join(folder, 'when'), `${n}\n`)
}

export function hasDied(folder: string): boolean {
  return readFileSync(path.join(folder, 'trace'), 'latin1').includes('killed by SIGKILL')
}
