/** The verb repos: lists the repositories that offshoot has worked in. */
import type { Ports } from '../ports/index.ts'
import { isForgotten } from '../tasks/repo.ts'

export interface KnownRepo {
  readonly id: string
  readonly name: string
  readonly path: string
  readonly exists: boolean
  readonly openTasks: number
  readonly addedAt: string
}

/** Leaves out a forgotten repository without open tasks. */
export async function repos(ports: Ports): Promise<KnownRepo[]> {
  const { store } = ports
  const looks = (await ports.repos.readAll()).map(async ({ id, name, commonDir, addedAt }) => {
    const openTasks = await store.countOpenTasks(id)
    if (openTasks === 0 && (await isForgotten(ports.notes, id))) return []
    const exists = (await ports.files.readKind(commonDir)) === 'folder'
    return [{ id, name, path: commonDir, exists, openTasks, addedAt }]
  })
  return (await Promise.all(looks)).flat()
}
