import type { Ports } from './ports.ts'

export interface KnownRepo {
  readonly id: string
  readonly name: string
  readonly path: string
  readonly exists: boolean
  readonly openTasks: number
  readonly addedAt: string
}

/** Every repository that offshoot has worked in. */
export async function repos(ports: Ports): Promise<KnownRepo[]> {
  return Promise.all(
    ports.store.readRepos().map(async ({ id, name, commonDir, addedAt }) => ({
      id,
      name,
      path: commonDir,
      exists: (await ports.files.readKind(commonDir)) === 'folder',
      openTasks: ports.store.countOpenTasks(id),
      addedAt,
    })),
  )
}
