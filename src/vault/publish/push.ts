/**
 * Runs the user's git against a remote. It runs in a git folder with the repository's config as of the start, because
 * an agent may have written commands into that config since (docs/adr/0010-conversions-as-of-the-start.md).
 */
import { quoted } from '../../core/base/shell-quote.ts'
import path from 'node:path'
import { appError, AppError, programFailure } from '../../core/model/errors.ts'
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

/** The push URL of a remote, by the config as of the start and by the config of now. */
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

/** Never pushes by force: commits on the remote that the branch lacks stay there. */
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
  // A hook expects to run in its own repository.
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
      hint: `Nothing has changed here. Try it by hand: git push ${quoted(url)} ${quoted(branch)}`,
      data: programFailure(error),
      cause: error,
    })
  }
}
