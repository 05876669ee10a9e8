import type { Ports } from './ports.ts'
import { isForgotten } from './repo.ts'

export interface KnownRepo {
  readonly id: string
  readonly name: string
  readonly path: string
  readonly exists: boolean
  readonly openTasks: number
  readonly addedAt: string
}

/** Every repository that offshoot has worked in, unless it was forgotten and nothing of it is open. */
export async function repos(ports: Ports): Promise<KnownRepo[]> {
  const { store } = ports
  const known = store.readRepos().filter(({ id }) => !isForgotten(store, id) || store.countOpenTasks(id) > 0)
  return Promise.all(
    known.map(async ({ id, name, commonDir, addedAt }) => ({
      id,
      name,
      path: commonDir,
      exists: (await ports.files.readKind(commonDir)) === 'folder',
      openTasks: store.countOpenTasks(id),
      addedAt,
    })),
  )
}
