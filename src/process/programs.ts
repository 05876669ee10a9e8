/** Finds programs on PATH. */
import { accessSync, constants, statSync } from 'node:fs'
import path from 'node:path'

/** Finds a program as the shell does: by its path, or in a folder of PATH. */
export function findProgram(program: string, cwd: string, folders = ''): string | undefined {
  const places = program.includes('/') ? [cwd] : folders.split(path.delimiter)
  return places.map((folder) => path.resolve(cwd, folder, program)).find(isProgram)
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
