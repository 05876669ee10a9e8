/** The verb run without isolation: runs an agent or a command in the folder itself (docs/adr/0051-without-isolation.md). */
import type { AgentEnd } from '../model/agent.ts'
import { appError, AppError } from '../model/errors.ts'
import type { Settings } from '../model/settings.ts'
import { runFolder } from '../model/layout.ts'
import type { Ports } from '../ports/index.ts'
import type { CommandFlags } from '../ports/settings.ts'
import { chooseAgent } from '../runs/choose-agent.ts'
import { useLimits } from '../runs/turns.ts'
import { converse, type Onlooker } from '../runs/loop.ts'
import { findSettings } from '../runs/agent-settings.ts'
import { openNotifier } from '../runs/notify.ts'
import { answers } from '../runs/permission.ts'
import { requireTools } from '../runs/known-tools.ts'
import { agentName, flagsOf, type RunInput } from '../runs/run-input.ts'
import { switchedOff } from '../tasks/guards.ts'
import { recognize } from '../tasks/repo.ts'
import { openCell } from '../workspaces/cell.ts'

export interface DirectRun {
  readonly agent: string
  readonly end: AgentEnd
}

/** `isolation`: the user asked for it; left out, the settings decide. */
export interface DirectInput extends Omit<RunInput, 'isolation'> {
  readonly isolation?: 'direct' | undefined
}

/** Runs an agent, or any command, in the folder itself: no task, no steps, no undo. */
export async function runDirect(
  ports: Ports,
  input: DirectInput,
  onlooker?: Onlooker,
  signal: AbortSignal = new AbortController().signal,
): Promise<DirectRun> {
  const { isolation: _, ...asked } = input
  const settings = await requireDirect(ports, input, flagsOf(asked))
  const { policy } = settings
  const agent = await chooseAgent(ports, input.dir, agentName(settings, asked), policy.level)
  requireTools(policy, ports.agents.includes(agent))
  const tell: Onlooker['tell'] = (event) => onlooker?.tell(event)
  const place = { workspace: input.dir, free: [ports.temp], closed: [ports.home], home: ports.userHome }
  const { readRealPath } = ports.files
  const ask = input.autoContinue ? undefined : onlooker?.ask
  const permit = answers({ policy, place, readRealPath, tell, ask })
  const run = ports.ids.uid()
  const cell = await openCell(ports, {
    workspace: input.dir,
    env: { OFFSHOOT_RUN: run },
    runFolder: runFolder(ports.home, run),
  })
  const handed = {
    prompt: input.prompt ?? '',
    argv: input.argv,
    terminal: onlooker === undefined,
    // Nobody can trust a folder without a repository.
    projectSettings: (await findSettings(ports, input.dir, agent)).length === 0,
  }
  const attended = { workspace: input.dir, tell, permit }
  const { how } = settings.notify
  const checkout = input.dir
  const notify =
    how.length > 0 && input.prompt !== undefined
      ? await openNotifier(
          ports,
          { how, checkout, repo: await recognize(ports, checkout).catch(() => undefined) },
          tell,
        )
      : undefined
  const { end } = await converse(
    agent,
    handed,
    cell,
    attended,
    useLimits({ timeMinutes: 0, turns: 0 }),
    signal,
  )
  await notify?.ended(undefined, end.ok ? '' : end.reason)
  return { agent: agent.name, end }
}

/**
 * The settings that count for the run. Throws where it needs a task: in a repository, unless the user asked for this run, or
 * has switched offshoot off and set `isolation.fallback: direct`; and in any that is damaged or of another user. A
 * repository's own file switches offshoot off, but takes nobody's isolation away.
 */
async function requireDirect(
  ports: Pick<Ports, 'locate' | 'settings'>,
  { dir, isolation }: DirectInput,
  flags: CommandFlags,
): Promise<Settings> {
  const isAsked = isolation === 'direct'
  const found = await ports.locate(dir).catch(appError)
  if (found instanceof AppError) {
    const settings = await ports.settings.read(null, flags)
    const isWanted = isAsked || settings.isolation.fallback === 'direct'
    if (isWanted && found.problem === 'notARepository' && found.path === dir) return settings
    throw found
  }
  const settings = await ports.settings.read(found.checkout, flags)
  if (isAsked) return settings
  if (settings.enabled)
    throw new AppError('wrongUsage', `${dir} is in a git repository: it gets a task.`, {
      hint: 'Ask for the isolation direct, or run it in a task.',
    })
  const { enabled } = await ports.settings.read(null)
  if (!enabled && settings.isolation.fallback === 'direct') return settings
  const orElse = enabled ? '' : ', or set isolation.fallback: direct'
  throw switchedOff(
    ` Without isolation, steps and undo: offshoot run --isolation direct -- COMMAND${orElse}.`,
  )
}
