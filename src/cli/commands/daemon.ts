/** `daemon status` and `daemon stop`: whether the daemon runs, and ends it. */
import { type Daemon, findDaemon } from '../../client/daemon.ts'
import { findRun } from '../../compose/records.ts'
import { AppError } from '../../core/model/errors.ts'
import type { Answer, Context } from '../command.ts'

/** Whoever starts the daemon can act for the user, and whoever stops it ends runs of others. */
export function requireNoAgent(env: NodeJS.ProcessEnv, command: string): void {
  if (findRun(env) === undefined) return
  throw new AppError('policyRefused', `An agent may not ${command}: that is for the user to decide.`, {
    hint: `Only the user can run: offshoot ${command}`,
  })
}

export async function status({ home }: Context): Promise<Answer> {
  const daemon = await findDaemon(home)
  if (!daemon) return { json: { running: false }, text: 'No daemon is running.', exitCode: 1 }
  const { url, pid, socket, startedAt, version } = daemon
  return {
    json: { running: true, url, pid, socket, startedAt, version },
    text: `Listening on ${url}, as process ${pid}, since ${startedAt}.`,
  }
}

export async function stop({ home, env, signal }: Context): Promise<Answer> {
  requireNoAgent(env, 'daemon stop')
  const daemon = await findDaemon(home)
  if (!daemon) return { json: { stopped: false }, text: 'No daemon is running.' }
  await requireStopped(daemon, signal)
  return { json: { stopped: true, pid: daemon.pid }, text: 'The daemon has stopped.' }
}

/** The daemon answers when everything else has ended. */
async function requireStopped(daemon: Daemon, signal: AbortSignal): Promise<void> {
  const { status: code } = await daemon.post('/stop', {}, signal)
  if (code !== 200) throw new AppError('failed', `The daemon answered ${code} instead of stopping.`)
}
