/** The version of the installed git. */
import { AppError } from '../core/model/errors.ts'
import { findProgram } from '../process/programs.ts'
import type { GitExec } from './exec.ts'
import { statOf } from './look.ts'

const oldest = [2, 38] as const

export interface VersionNotes {
  find(key: string): Promise<string | undefined>
  put(key: string, value: string): Promise<void>
}

/**
 * The installed git's version. We ask once per binary and note the answer with the binary's path, size and time, so
 * that a command normally starts no process for it.
 */
export async function requireVersion(
  exec: GitExec,
  notes: VersionNotes,
  env: NodeJS.ProcessEnv,
  signal?: AbortSignal,
): Promise<string> {
  const binary = findBinary(env.PATH)
  if (binary === undefined) throw new AppError('gitUnusable', 'git is not installed, or not on PATH.')
  const noted = (await undefinedOnError(() => notes.find('git')))?.split('\t')
  if (noted?.[0] === binary && noted[1] !== undefined) return noted[1]
  const { stdout } = await exec({ args: ['version'], cwd: '/', signal })
  const version = /(\d+\.\d+(\.\d+)?)/.exec(stdout.toString())?.[1]
  if (version === undefined)
    throw new AppError('gitUnusable', `git answers no version: ${stdout.toString().trim()}`)
  if (!isRecent(version)) {
    throw new AppError(
      'gitUnusable',
      `git ${version} is too old; offshoot needs ${oldest.join('.')} or newer.`,
    )
  }
  await undefinedOnError(() => notes.put('git', `${binary}\t${version}`))
  return version
}

/** A note that cannot be read or written costs one more `git version`, nothing else. */
async function undefinedOnError<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch {
    return undefined
  }
}

export function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1])
}

function findBinary(searchPath: string | undefined): string | undefined {
  const file = findProgram('git', '/', searchPath)
  const found = file && statOf(file)
  return found ? `${file}:${found.size}:${found.mtimeMs}` : undefined
}
