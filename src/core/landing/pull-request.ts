/** The strategy `pr`: pushes the task's branch, and opens a pull request with `gh` or `glab`. */
import { quoted } from '../base/shell-quote.ts'
import type { Work } from '../tasks/work.ts'
import { AppError, appError } from '../model/errors.ts'
import { closeKept } from './close.ts'
import { stepLines, titleOf } from './message.ts'
import { ontoHint } from './options.ts'
import type { Ports } from '../ports/index.ts'
import type { Repo } from '../model/repo.ts'
import { strategyFacts } from '../model/strategies.ts'
import { addressIn, type Request, remoteHost, requestArgs, type Tool, toolFor, tools } from './request.ts'
import type { Landing, LandingStrategy, LandingWork } from './strategy.ts'

export const pullRequest: LandingStrategy<'pr'> = {
  ...strategyFacts.pr,
  name: 'pr',
  plan: planRequest,
  async close(work) {
    // The work is not in the target yet, so no part counts as landed.
    return work.input.keep ? { refs: [], record: { from: {}, to: {} } } : closeKept(work)
  },
}

/** Checks the remote and the tool; nothing is changed before `send`. */
async function planRequest({ ports, repo, task, input, signal }: LandingWork): Promise<Landing> {
  const base = input.onto ?? task.base.branch
  if (base === null) {
    throw new AppError('baseMissing', `${task.id} was not started from a branch.`, {
      hint: ontoHint,
    })
  }
  const settings = (await ports.settings.read(task.origin)).pr
  const url = await requireRemote({ ports, repo, task }, settings.remote)
  const remote = remoteHost(url)
  const tool = toolFor(settings.tool, remote?.host, await installedTools(ports, repo))
  const steps = await ports.steps.readSteps(repo, task)
  const [first = '', ...rest] = (input.message ?? '').trim().split('\n')
  const words = {
    title: first || titleOf(task),
    body: input.message === undefined ? stepLines(steps).join('\n') : rest.join('\n').trim(),
  }
  const send = async () => {
    const { branch, tip } = await ports.publishing.publish(repo, task, signal)
    if (tip === task.base.commit) {
      throw new AppError('wrongUsage', `${task.id} has changed nothing: there is nothing to ask for.`, {
        hint: `offshoot reject ${task.id} discards it.`,
      })
    }
    await ports.publishing.push(repo, task, { url, branch, commit: tip, hooks: Boolean(input.hooks) }, signal)
    const address = await openRequest({ ports, repo, task, signal }, tool, { remote, branch, base, ...words })
    return { onto: base, commit: tip, ...(address !== undefined && { url: address }) }
  }
  return { conflicts: [], refs: [], onto: base, landed: {}, send }
}

/**
 * The address to push to. An agent in a worktree can write the repository's config, so the address must be the one of the
 * start, unless the user gives it outside of that config.
 */
async function requireRemote({ ports, repo, task }: Work, remote: string): Promise<string> {
  if (/[:/]/.test(remote)) return remote
  const { before, now } = await ports.publishing.findRemote(repo, task, remote)
  const url = before ?? now
  if (url === undefined) {
    throw new AppError('notFound', `There is no remote ${remote}.`, {
      hint: `git remote add ${quoted(remote)} URL, or name another one with pr.remote.`,
    })
  }
  if (now === url) return url
  throw new AppError('policyRefused', `The remote ${remote} has changed since ${task.id} was started.`, {
    hint: `If that was you, say where to: OFFSHOOT_PR_REMOTE=${quoted(now ?? 'URL')} offshoot accept ${task.id} --as pr`,
    data: { before, now },
  })
}

async function installedTools(ports: Pick<Ports, 'commands'>, repo: Repo): Promise<Tool[]> {
  const found: Tool[] = []
  for (const tool of tools) {
    const call = { argv: [tool, '--version'], cwd: repo.commonDir, env: {}, onOutput: () => {} }
    const code = await ports.commands.run(call).catch((error: unknown) => {
      if (appError(error).problem === 'programMissing') return -1
      throw error
    })
    if (code === 0) found.push(tool)
  }
  return found
}

async function openRequest(
  { ports, repo, task, signal }: Work,
  tool: Tool,
  request: Request,
): Promise<string | undefined> {
  const said = { stdout: '', stderr: '' }
  const call = {
    argv: requestArgs(tool, request),
    // A git that the tool starts reads the repository's config as of the start of the task.
    cwd: await ports.publishing.makePushRepo(repo, task),
    env: { GH_PROMPT_DISABLED: '1', NO_PROMPT: '1' },
    onOutput: (stream: 'stdout' | 'stderr', text: string) => void (said[stream] += text),
  }
  const code = await ports.commands.run(call, signal)
  if (code === 0) return addressIn(said.stdout) ?? addressIn(said.stderr)
  const known = addressIn(said.stderr + said.stdout)
  // An earlier call opened the pull request and was killed before we recorded it.
  if (/already exists/i.test(said.stderr + said.stdout) && known !== undefined) return known
  const reason = said.stderr.trim().split('\n').at(-1) ?? ''
  throw new AppError('failed', `${tool} did not open a pull request (${code}): ${reason}`, {
    hint: `The branch ${request.branch} has been pushed and the task is open: repeat it, or open one by hand.`,
    data: { stdout: said.stdout, stderr: said.stderr },
  })
}
