/** The settings for agents in a workspace, which an agent obeys before any policy is asked: the user has to trust them. */
import { createHash } from 'node:crypto'
import { quoted } from '../base/shell-quote.ts'
import { type HashedFile, readFilesAt } from '../hooks/files.ts'
import { findUntrusted, obeyedBy } from '../hooks/trust.ts'
import { AppError } from '../model/errors.ts'
import type { RepoRecord } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import type { Agent } from '../ports/agent.ts'
import type { Ports } from '../ports/index.ts'
import { commandFiles } from './slash-commands.ts'

/** The files in a folder that the agent would obey, but for those that `agents install` wrote. */
export async function findSettings(ports: Ports, folder: string, agent: Agent): Promise<HashedFile[]> {
  const found = await readFilesAt(ports, folder, agent.obeys ?? obeyedBy(ports.agents))
  return found.filter((file) => !isOurs(ports.agents, file))
}

/** Throws `policyRefused` when the workspace has settings that the agent would obey, and that the user has not trusted. */
export async function requireTrustedSettings(
  ports: Ports,
  { repo, task }: { readonly repo: RepoRecord; readonly task: Task },
  agent: Agent,
): Promise<void> {
  const found = await findSettings(ports, task.path, agent)
  const [first, ...more] = await findUntrusted(ports, repo.id, found)
  if (!first) return
  const files = more.length > 0 ? `${first.path} and ${more.length} more` : first.path
  throw new AppError('policyRefused', `${agent.title} would obey ${files}, which you have not trusted.`, {
    path: task.path,
    hint: `offshoot trust -C ${quoted(task.path)} shows it, and asks; then repeat.`,
    data: { untrusted: [first, ...more].map(({ path }) => path) },
  })
}

/** Whether `agents install` wrote the file. */
function isOurs(agents: readonly Agent[], { path, sha256 }: HashedFile): boolean {
  const content = commandFiles(agents).get(path)
  return content !== undefined && createHash('sha256').update(content).digest('hex') === sha256
}
