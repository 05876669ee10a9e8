/** The folder that a request means which names no repository. */
import { fileURLToPath } from 'node:url'
import path from 'node:path'
import { AppError } from '../core/model/errors.ts'
import type { Server } from '@modelcontextprotocol/server'

/** How long a client has to tell its roots. */
const patienceMs = 5_000

/** The folder of one connection; undefined where each request must name its own. */
export type Folder = () => Promise<string | undefined>

/** The client's first root, if it tells one: of 2025 clients only, as newer ones name the folder in each request. */
export function rootedFolder(server: Server, given: string | undefined): Folder {
  let root: Promise<string | undefined> = Promise.resolve(undefined)
  const ask = () => {
    if (server.getClientCapabilities()?.roots) root = readRoot(server)
  }
  server.oninitialized = ask
  server.setNotificationHandler('notifications/roots/list_changed', ask)
  return async () => (await root) ?? given
}

async function readRoot(server: Server): Promise<string | undefined> {
  try {
    const { roots } = await server.listRoots(undefined, { timeout: patienceMs })
    return roots[0] && fileURLToPath(roots[0].uri)
  } catch {
    return undefined
  }
}

/** The input with its folders as whole paths. Throws `wrongUsage` for one that begins nowhere. */
export function placed(input: Readonly<Record<string, unknown>>, folder: string | undefined): object {
  const repo = wholePath('repo', input.repo ?? folder, folder)
  const place = typeof repo === 'string' ? repo : folder
  return {
    ...input,
    ...(repo !== undefined && { repo }),
    ...(input.path !== undefined && { path: wholePath('path', input.path, place) }),
  }
}

/** What is no text is for the schema to refuse. */
function wholePath(field: string, value: unknown, from: string | undefined): unknown {
  if (typeof value !== 'string' || value === '' || path.isAbsolute(value)) return value
  if (from !== undefined) return path.resolve(from, value)
  throw new AppError('wrongUsage', `${field}: ${JSON.stringify(value)} is no absolute path.`, {
    hint: 'This server is in no folder of yours: begin the path with /',
  })
}
