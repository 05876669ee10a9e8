/** One action in one isolation: three steps, the action, a checkpoint, and the four questions. */
import { lstatSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { AppError, openRepo } from '../../../src/index.ts'
import { plainGit } from '../../support/control.ts'
import type { Action, CorpusFixture, Isolation } from './action.ts'
import {
  earlierAreReadable,
  isBack,
  nextIsComplete,
  onlyOursCame,
  type Taken,
  userIsAsPromised,
  userState,
  vaultIsSound,
} from './action-checks.ts'
import { differences, readFolder, readStep, type Shots, vaultGit } from './files.ts'
import {
  act,
  bash,
  keepActing,
  lastEdit,
  makeControl,
  makeCorpusFixture,
  openEdit,
  stepScripts,
} from './corpus-fixture.ts'

/** What is wrong, column by column; all empty is green. */
export interface Verdict {
  readonly next: string[]
  readonly earlier: string[]
  readonly code: string[]
  readonly user: string[]
  readonly notes: string[]
}

interface Kept {
  readonly commit: string
  readonly shots: Shots
}

export async function checkAction(action: Action, isolation: Isolation, root: string): Promise<Verdict> {
  const verdict: Verdict = { next: [], earlier: [], code: [], user: [], notes: [] }
  const made = makeCorpusFixture(root, action.before)
  const atFirst = userState(made, true)
  const { space, steps, vault } = await makeSteps(made.repo, isolation, root)
  const fixture: CorpusFixture = { ...made, space }
  verdict.user.push(
    ...userIsAsPromised(atFirst, userState(fixture, true)).map((line) => `before the action: ${line}`),
  )
  bash(space, openEdit)
  const control = isolation === 'worktree' ? makeControl(fixture, path.join(root, 'control')) : undefined
  if (action.later) await pause(2_200)

  for (const one of control ? [control, fixture] : [fixture]) act(one, action.script)
  // Nothing of what the agent itself set off counts.
  fixture.canary.hush()
  const taken = await checkpointAfter(action, fixture, steps, verdict)
  const sung = (what: string) => {
    verdict.code.push(...fixture.canary.sung().map((name) => `${what} ran ${name}`))
    fixture.canary.hush()
  }
  sung('the checkpoint')
  if (!taken) return verdict

  const before = steps.at(-1)!.shots
  const moving = action.moving === undefined ? undefined : movingShot(vault, taken, action.moving)
  verdict.next.push(...nextIsComplete(action, space, vault, taken, before, moving))
  verdict.earlier.push(...earlierAreReadable(vault, steps))
  const expected = control ? userState(control, false) : atFirst
  const actual = userState(fixture, !control)
  verdict.user.push(...userIsAsPromised(expected, actual))
  // Where the agent has damaged the user's objects, the vault is looked at by itself, below.
  if (actual.complaints.size === 0) verdict.earlier.push(...vaultIsSound(vault, fixture.repo))
  if (!control) verdict.user.push(...onlyOursCame(fixture.repo, atFirst.objects))

  const all = [...steps, { commit: taken.checkpoint.commit, shots: readStep(vault, taken.checkpoint.commit) }]
  plainGit(fixture.repo, 'gc', '--quiet', '--prune=now')
  vaultGit(vault, ['gc', '--quiet', '--prune=now'])
  verdict.earlier.push(
    ...[...earlierAreReadable(vault, all), ...vaultIsSound(vault)].map((line) => `after gc, ${line}`),
  )
  fixture.canary.hush()
  await otherVerbs(fixture, steps, taken, verdict)
  sung('another verb')
  if (action.sings !== undefined) await proveAlive(action, fixture, taken, verdict)
  return verdict
}

async function makeSteps(repo: string, isolation: Isolation, root: string) {
  const offshoot = openRepo(repo)
  try {
    const { task } = await offshoot.start({ task: 'T1', isolation })
    const steps: Kept[] = []
    const keep = (commit: string) => {
      const files = [...readFolder(task.path).files].filter(([name]) => !name.endsWith('.log'))
      steps.push({ commit, shots: new Map(files) })
    }
    for (const [index, script] of stepScripts.entries()) {
      if (index === 0) keep((await offshoot.checkpoint({ task: 'T1' })).checkpoint.commit)
      bash(task.path, script)
      keep(
        (await offshoot.checkpoint({ task: 'T1', tool: 'Edit', summary: `step ${index + 1}` })).checkpoint
          .commit,
      )
    }
    const vault = path.join(root, 'state/vaults', readdirSync(path.join(root, 'state/vaults'))[0] ?? '')
    return { space: task.path, steps, vault }
  } finally {
    await offshoot.close()
  }
}

/** What an agent's tool call is followed by; a workspace that is gone is made again first. */
async function checkpointAfter(
  action: Action,
  { repo, space, ...fixture }: CorpusFixture,
  steps: readonly Kept[],
  verdict: Verdict,
): Promise<Taken | undefined> {
  const offshoot = openRepo(repo)
  try {
    const gone = !lstatSync(space, { throwIfNoEntry: false })?.isDirectory() && (await refuses(offshoot))
    if (gone) {
      await offshoot.start({ task: 'T1' })
      verdict.earlier.push(
        ...differences(steps.at(-1)!.shots, readFolder(space).files).map((line) => `made again, ${line}`),
      )
    }
    bash(space, lastEdit)
    const stop =
      action.meanwhile === undefined ? undefined : keepActing({ repo, space, ...fixture }, action.meanwhile)
    try {
      return await offshoot.checkpoint({ task: 'T1', tool: 'Bash', summary: action.name, ignored: true })
    } finally {
      await stop?.()
    }
  } catch (error) {
    verdict.next.push(said(error))
    return undefined
  } finally {
    await offshoot.close()
  }
}

/** A checkpoint of nothing must not be taken for the deletion of everything. */
async function refuses(offshoot: ReturnType<typeof openRepo>): Promise<boolean> {
  try {
    await offshoot.show('T1')
    await offshoot.checkpoint({ task: 'T1' })
    return false
  } catch (error) {
    if (error instanceof AppError && error.code === 'WT_005') return true
    throw error
  }
}

/** The lines of `seq`, as far as they had been written. */
function movingShot(vault: string, taken: Taken, name: string): Shots | undefined {
  const text = vaultGit(vault, ['cat-file', 'blob', `${taken.checkpoint.commit}:${name}`]).toString('latin1')
  const holes = text.replaceAll('\0', '')
  return /^(\d*\n)*\d*$/.test(holes) ? new Map() : undefined
}

async function otherVerbs(
  { repo, space }: CorpusFixture,
  steps: readonly Kept[],
  taken: Taken,
  verdict: Verdict,
): Promise<void> {
  const offshoot = openRepo(repo)
  const attempt = async (what: string, work: () => Promise<unknown>) => {
    try {
      await work()
    } catch (error) {
      verdict.earlier.push(`${what}: ${said(error)}`)
    }
  }
  try {
    await attempt('log', async () => {
      const log = await offshoot.log('T1')
      const commits = [...steps.map((step) => step.commit), taken.checkpoint.commit].slice(1)
      if (
        log
          .map((step) => step.commit)
          .slice(-4)
          .join() !== commits.join()
      )
        verdict.earlier.push('log tells of other steps')
    })
    await attempt('show', () => offshoot.show('T1'))
    await attempt('diff', () => offshoot.diff({ task: 'T1' }))
    await attempt('diff of steps', () => offshoot.diff({ task: 'T1', step: '1..3' }))
    await attempt('repair', () => offshoot.repair('T1'))
    await attempt('rewind', async () => {
      await offshoot.rewind({ task: 'T1', to: 1 })
      verdict.earlier.push(...isBack(space, steps[1]!.shots, taken))
    })
    for (const as of ['patch', 'squash', 'rebase', 'merge'] as const) {
      // In a repository that the agent has destroyed it may refuse; it must not run anything.
      await offshoot.accept({ task: 'T1', as, dryRun: true }).catch(() => {})
    }
    await attempt('a checkpoint from inside', () => checkpointInside(space))
  } finally {
    await offshoot.close()
  }
}

/** As a hook of the agent's calls it: from the workspace, whatever has become of its `.git`. */
async function checkpointInside(space: string): Promise<void> {
  bash(space, 'echo again > again.txt')
  const offshoot = openRepo(space)
  try {
    await offshoot.checkpoint({})
  } finally {
    await offshoot.close()
  }
}

/** Without this a canary that nobody can hear would prove anything. */
async function proveAlive(
  action: Action,
  { repo, space, canary }: CorpusFixture,
  taken: Taken,
  verdict: Verdict,
): Promise<void> {
  const [major = 0, minor = 0] = (action.since ?? '').split('.').map(Number)
  const version = /(\d+)\.(\d+)/.exec(plainGit(space, 'version'))
  const [ours, minorOurs] = [Number(version?.[1]), Number(version?.[2])]
  if (ours < major || (ours === major && minorOurs < minor)) {
    verdict.notes.push(`git ${version?.[0]} does not know what was planted`)
    return
  }
  const offshoot = openRepo(repo)
  try {
    await offshoot.rewind({ task: 'T1', to: taken.checkpoint.n })
  } finally {
    await offshoot.close()
  }
  canary.hush()
  bash(space, `(${action.sings}) < /dev/null || true`, { CANARY: canary.command })
  if (canary.sung().length === 0) verdict.code.push('the canary is dead: this proves nothing')
}

function said(error: unknown): string {
  return error instanceof AppError
    ? `${error.code} ${error.message}`
    : String((error as Error).stack ?? error)
}
