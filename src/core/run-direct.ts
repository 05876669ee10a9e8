import type { AgentEnd, AgentEvent, Cell } from './agent.ts'
import { chooseAgent } from './agents.ts'
import { toldCall } from './attend.ts'
import { AppError, appError } from './errors.ts'
import { answers } from './permission.ts'
import type { Ports } from './ports.ts'
import { clearRoom, makeRoom, nameOf, type Onlooker, policyOf, type RunInput } from './run-agent.ts'

export interface DirectRun {
  readonly agent: string
  readonly end: AgentEnd
}

/**
 * Runs an agent, or any command, in the folder itself: no task, no steps, no undo. Only where there is no repository at
 * all, and only when the user's settings say so.
 */
export async function runDirect(
  ports: Ports,
  input: RunInput,
  onlooker?: Onlooker,
  signal: AbortSignal = new AbortController().signal,
): Promise<DirectRun> {
  const settings = await ports.settings.read(null)
  await requireNoRepo(ports, input.dir, settings.isolation.fallback === 'direct')
  const policy = policyOf(settings, input)
  const agent = await chooseAgent(ports, input.dir, nameOf(settings, input), policy.level)
  const tell: Onlooker['tell'] = (event) => onlooker?.tell(event)
  const place = { workspace: input.dir, free: [ports.temp], home: ports.userHome }
  const permit = answers({ policy, place, tell, ask: input.autoContinue ? undefined : onlooker?.ask })
  const run = ports.ids.uid()
  let end: AgentEnd = { ok: false, reason: `${agent.name} ended without a word` }
  const handed = { prompt: input.prompt ?? '', argv: input.argv, terminal: onlooker === undefined }
  try {
    for await (const event of agent.run(handed, cellOf(ports, input.dir, run), signal)) {
      if (event.type === 'asked') event.answer(await permit(event.permission))
      else if (event.type === 'ended') end = event
      else pass(event, input.dir, tell)
    }
  } finally {
    await clearRoom(ports, run)
  }
  return { agent: agent.name, end }
}

/** A repository that is damaged, or somebody else's, is one all the same: an agent is not let loose in it. */
async function requireNoRepo(ports: Ports, dir: string, isWanted: boolean): Promise<void> {
  const error = await ports.locate(dir).then(() => undefined, appError)
  if (error === undefined) throw new AppError('WT_019', `${dir} is in a git repository: it gets a task.`)
  if (isWanted && error.code === 'WT_009' && error.path === dir) return
  throw error
}

function pass(
  event: Exclude<AgentEvent, { type: 'asked' | 'ended' }>,
  dir: string,
  tell: Onlooker['tell'],
): void {
  switch (event.type) {
    case 'started':
      return tell({ event: 'conversation', conversation: event.conversationId })
    case 'message':
      return tell({ event: 'message', text: event.text })
    case 'output':
      return tell({ event: 'output', stream: event.stream, text: event.text })
    case 'toolStarted':
      return tell({ event: 'tool.started', ...toldCall(event, { path: dir }) })
    case 'toolEnded':
      tell({ event: 'tool.ended', ok: event.ok, ...toldCall(event, { path: dir }) })
      return event.release()
    case 'usage':
      return tell({ event: 'usage', inputTokens: event.inputTokens, outputTokens: event.outputTokens })
  }
}

function cellOf(ports: Ports, dir: string, run: string): Cell {
  return {
    workspace: dir,
    home: ports.userHome,
    makeRoom: () => makeRoom(ports, run),
    run: ({ env, ...call }, signal) =>
      ports.commands.run({ ...call, cwd: dir, env: { ...env, OFFSHOOT_RUN: run } }, signal),
  }
}
