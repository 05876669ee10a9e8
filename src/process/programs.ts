/** Finds programs on PATH (docs/adr/0031-absolute-programs.md). */
import { accessSync, constants, statSync } from 'node:fs'
import path from 'node:path'

/** Finds a program by its path, or in a folder of PATH. */
export function findProgram(program: string, cwd: string, folders = ''): string | undefined {
  const places = program.includes('/') ? [cwd] : foldersOf(folders)
  return places.map((folder) => path.resolve(cwd, folder, program)).find(isProgram)
}

/** A folder of PATH that is relative, or empty, is another one in each workspace: a program in it is the agent's. */
const foldersOf = (folders: string) =>
  folders.split(path.delimiter).filter((folder) => path.isAbsolute(folder))

/** No program is there. An empty PATH would not do: to the system it means the current folder. */
const noFolder = '/dev/null'

/** The same environment with a PATH of absolute folders only, for a child to find its own programs by. */
export function withoutRelative(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (env.PATH === undefined) return env
  const PATH = foldersOf(env.PATH).join(path.delimiter) || noFolder
  return PATH === env.PATH ? env : { ...env, PATH }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

const found = new Map<string, string>()

/** The absolute path of a program, looked for once; a name that is not found stays as it is, and cannot be started. */
export function absolute(program: string, cwd: string, { PATH = '' }: NodeJS.ProcessEnv): string {
  if (program.includes('/')) return program
  const key = `${program}\0${PATH}`
  const known = found.get(key) ?? findProgram(program, cwd, PATH)
  if (known !== undefined) found.set(key, known)
  return known ?? program
}
