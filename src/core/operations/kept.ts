/** Reads an operation from the vault. */
import type { Operation } from '../model/operation.ts'
import type { Repo } from '../model/repo.ts'
import type { Ports } from '../ports/index.ts'
import { follower } from '../workspaces/moved.ts'

/** The operation of that id; its paths follow the repository if it was moved. */
export async function findOperation(
  ports: Pick<Ports, 'journal'>,
  repo: Repo,
  id: string,
): Promise<Operation | undefined> {
  const kept = await ports.journal.findKept(repo, id)
  return kept && followed(kept.record as Operation, repo.commonDir)
}

function followed(operation: Operation, now: string): Operation {
  const { commonDir = now, files, strays, index, head } = operation
  if (commonDir === now) return operation
  const follow = follower(commonDir, now)
  return {
    ...operation,
    files: files && { ...files, checkout: follow(files.checkout) },
    strays: strays?.map(({ folder, moves }) => ({ folder: follow(folder), moves })),
    index: index && { ...index, gitDir: follow(index.gitDir) },
    head: head && { ...head, gitDir: follow(head.gitDir) },
  }
}
