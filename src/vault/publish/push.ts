/**
 * The user's own git, on its way to a remote. It runs in a git folder whose config is that of the repository at the
 * start, because what an agent wrote into it since may name commands.
 */
import path from 'node:path'
import { appError, AppError } from '../../core/model/errors.ts'
import type { Push } from '../../core/model/git.ts'
import type { Repo } from '../../core/model/repo.ts'
import type { Task } from '../../core/model/task.ts'
import { branchRef, nowhereHead } from '../../core/model/refs.ts'
import { taskFiles, taskFolder } from '../../core/model/layout.ts'
import type { OpenVault } from '../open.ts'
import { copyShallow } from '../place.ts'

export async function makePushRepo({ files, vault }: OpenVault, repo: Repo, task: Task): Promise<string> {
  const repoFolder = path.join(taskFolder(vault, task), taskFiles.push)
  const kept = path.join(taskFolder(vault, task), taskFiles.config)
  const own = (await files.readText(path.join(vault, 'config'))) ?? ''
  for (const folder of ['objects', 'refs']) await files.makeFolder(path.join(repoFolder, folder), 0o700)
  await files.write(
    path.join(repoFolder, 'config'),
    `${own}[include]\n\tpath = ${JSON.stringify(kept)}\n`,
    0o600,
  )
  await copyShallow(files, repo.commonDir, repoFolder)
  await files.write(path.join(repoFolder, 'HEAD'), nowhereHead, 0o600)
  return repoFolder
}

/** Where that remote is pushed to, by the config as it was at the start and as it is. */
export async function findRemote(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  remote: string,
): Promise<{ before: string | undefined; now: string | undefined }> {
  const ask = async (gitDir: string) => {
    const args = ['remote', 'get-url', '--push', '--', remote]
    const { code, stdout } = await vault.exec({ args, gitDir, cwd: gitDir, config: 'user', expect: [2, 128] })
    return code === 0 ? stdout.toString().split('\n')[0] : undefined
  }
  return { before: await ask(await makePushRepo(vault, repo, task)), now: await ask(repo.commonDir) }
}

/** Never by force: what is on the remote and not in the branch stays there. */
export async function push(
  vault: OpenVault,
  repo: Repo,
  task: Task,
  { url, branch, commit, hooks }: Push,
  signal?: AbortSignal,
): Promise<void> {
  const { checkout, gitDir, commonDir } = repo.place
  const repoFolder = await makePushRepo(vault, repo, task)
  const objects = { objectDir: path.join(commonDir, 'objects') }
  // A hook expects to run in the repository that it belongs to.
  const scope = hooks
    ? { gitDir, cwd: checkout ?? gitDir }
    : { gitDir: repoFolder, cwd: repoFolder, ...objects }
  const args = ['push', '--quiet', '--', url, `${commit}:${branchRef(branch)}`]
  try {
    await vault.exec({ args, ...scope, config: 'user', network: true, hooks, signal })
  } catch (thrown) {
    const error = appError(thrown)
    if (error.kind === 'cancelled') throw error
    throw new AppError('failed', `${branch} could not be pushed: ${error.message}`, {
      hint: `Nothing has changed here. Try it by hand: git push ${url} ${branch}`,
      data: error.data,
      cause: error,
    })
  }
}
