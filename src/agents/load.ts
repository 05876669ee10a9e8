/** Loads agents from modules of the user's. */
import { pathToFileURL } from 'node:url'
import { AppError } from '../core/model/errors.ts'

/** All exports of a module; an exported list counts as its members. */
export async function loadModule(file: string): Promise<unknown[]> {
  try {
    const exported = (await import(pathToFileURL(file).href)) as Record<string, unknown>
    return Object.values(exported).flat()
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new AppError('badSettings', `The agent in ${file} cannot be loaded: ${why}`, { path: file, cause })
  }
}
