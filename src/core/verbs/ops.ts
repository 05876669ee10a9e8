/** The verb ops: lists the operations of a repository. */
import { type KnownOperation, operationsOf } from '../operations/known.ts'
import type { Ports } from '../ports/index.ts'
import { findRepo } from '../tasks/repo.ts'

/** The operations of a repository, newest first. */
export async function ops(ports: Ports, input: { dir: string }): Promise<KnownOperation[]> {
  const { repo } = await findRepo(ports, input.dir)
  return repo ? await operationsOf(ports, repo) : []
}
