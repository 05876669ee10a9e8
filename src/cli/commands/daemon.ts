/** `daemon status` and `daemon stop`: whether the daemon runs, and ends it. */
import { type Daemon, findDaemon } from '../../client/daemon.ts'
import { findRun } from '../../compose/records.ts'
import { AppError } from '../../core/model/errors.ts'
import { counted } from '../../core/base/counted.ts'
import type { Output } from '../../protocol/schemas/index.ts'
import type { Answer, Context } from '../command.ts'
import { printable } from '../output.ts'
import { readVersion } from '../version.ts'

/** Whoever starts the daemon can act for the user, and whoever stops it ends runs of others. */
export function requireNoAgent(env: NodeJS.ProcessEnv, command: string): void {
  if (findRun(env) === undefined) return
  throw new AppError('policyRefused', `An agent may not ${command}: that is for the user to decide.`, {
    hint: `Only the user can run: offshoot ${command}`,
  })
}

export async function status(context: Context): Promise<Answer> {
  const daemon = await findDaemon(context.home)
  const queue = await context.call('system.queue', {})
  const lines = queueLines(context, queue)
  if (!daemon)
    return {
      json: { running: false, queue },
      text: ['No daemon is running.', ...lines].join('\n'),
      exitCode: 1,
    }
  const { url, pid, socket, startedAt, version } = daemon
  const own = readVersion()
  const other =
    version === own ? [] : [`It is version ${version}, this command ${own}: offshoot serve replaces it.`]
  const listening = `Listening on ${url}, as process ${pid}, since ${startedAt}.`
  return {
    json: { running: true, url, pid, socket, startedAt, version, queue },
    text: [listening, ...other, ...lines].join('\n'),
  }
}

/** What waits, in the order in which it would start, with the command that takes it off the queue. */
function queueLines({ paint }: Context, { waiting, running }: Output<'system.queue'>): string[] {
  const counts = `${counted(running.length, 'run')} at work, ${waiting.length} waiting`
  const rows = waiting.map(
    ({ task, repo, agent, priority, what }) =>
      `  ${paint('bold', printable(task))} ${printable(`${agent}, priority ${priority}, ${repo}: ${what}`)}`,
  )
  return [counts, ...rows]
}

export async function stop({ home, env, signal }: Context): Promise<Answer> {
  requireNoAgent(env, 'daemon stop')
  const daemon = await findDaemon(home)
  if (!daemon) return { json: { stopped: false }, text: 'No daemon is running.' }
  await requireStopped(daemon, signal)
  return { json: { stopped: true, pid: daemon.pid }, text: 'The daemon has stopped.' }
}

/** The daemon answers when everything else has ended. */
export async function requireStopped(daemon: Daemon, signal: AbortSignal): Promise<void> {
  const { status: code } = await daemon.post('/stop', {}, signal)
  if (code !== 200) throw new AppError('failed', `The daemon answered ${code} instead of stopping.`)
}
