import { pathToFileURL } from 'node:url'
import { AppError } from '../core/model/errors.ts'

/** All that a module of the user's exports; of a list, its members. */
export async function loadModule(file: string): Promise<unknown[]> {
  try {
    const exported = (await import(pathToFileURL(file).href)) as Record<string, unknown>
    return Object.values(exported).flat()
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new AppError('badSettings', `The agent in ${file} cannot be loaded: ${why}`, { path: file, cause })
  }
}
