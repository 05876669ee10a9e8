/** One prompt of a session: runs the agent in the workspace of the task, and passes on what it says, does and asks. */
import {
  type AgentContext,
  methods,
  type RequestPermissionRequest,
  type SessionUpdate,
  type StopReason,
} from '@agentclientprotocol/sdk'
import type { Call } from '../api/call.ts'
import { appError } from '../core/model/errors.ts'
import type { TaskView } from '../core/model/task-view.ts'
import type { Said, Told } from '../protocol/events.ts'
import type { Input } from '../protocol/schemas/index.ts'
import { openUpdates, outcome, type Updates } from './updates.ts'

export interface TurnInput {
  readonly call: Call
  readonly client: AgentContext
  readonly sessionId: string
  readonly run: Input<'task.run'>
  readonly task: TaskView
  readonly signal: AbortSignal
}

export async function runTurn({
  call,
  client,
  sessionId,
  run,
  task,
  signal,
}: TurnInput): Promise<StopReason> {
  const send = openSender(client, sessionId)
  let updates = openUpdates('turn', task.path)

  /** Undefined when the client cannot be asked: the question then waits for `offshoot answer`, if the settings say so. */
  const ask = async (told: Extract<Told, { event: 'asked' }>): Promise<Said | undefined> => {
    const { updates: before, toolCall } = updates.asked(told)
    send(before)
    const asked: RequestPermissionRequest = { sessionId, toolCall, options: [...options] }
    const wait = { cancellationSignal: signal, stopWaitingOnCancel: true }
    const answer = client.request(methods.client.session.requestPermission, asked, wait)
    const said = await answer.then(
      (given) => given.outcome,
      () => undefined,
    )
    if (said?.outcome === 'selected')
      return options.find(({ optionId }) => optionId === said.optionId)?.optionId
    return said || signal.aborted ? 'deny' : undefined
  }
  const hear = (told: Told, using: Updates) => {
    if (told.event === 'asked') return ask(told)
    return send(using.take(told))
  }

  try {
    const ran = await call('task.run', run, signal, (told) => {
      if (told.event === 'started') updates = openUpdates(told.run, told.task.path)
      return hear(told, updates)
    })
    send([outcome(ran.task)])
    return 'end_turn'
  } catch (thrown) {
    if (appError(thrown).problem !== 'cancelled') throw thrown
    return 'cancelled'
  } finally {
    await send.all()
  }
}

/** The words of the answers are those of `offshoot answer`. */
const options = [
  { optionId: 'once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'always', name: 'Allow this call for the whole task', kind: 'allow_always' },
  { optionId: 'deny', name: 'Deny', kind: 'reject_once' },
] as const

/** Sends updates in their order. A client that has left hears none, which ends the turn by other means. */
export function openSender(client: AgentContext, sessionId: string) {
  let sent: Promise<unknown> = Promise.resolve()
  const send = (updates: readonly SessionUpdate[]): void => {
    for (const update of updates)
      sent = Promise.all([
        sent,
        client.notify(methods.client.session.update, { sessionId, update }).catch(() => {}),
      ])
  }
  return Object.assign(send, { all: () => sent })
}
