/** The sessions of one client: each is a task, known by its uid, and has at most one turn at a time. */
import path from 'node:path'
import {
  type AgentContext,
  type ListSessionsResponse,
  type LoadSessionRequest,
  type NewSessionResponse,
  type PromptRequest,
  type PromptResponse,
  RequestError,
} from '@agentclientprotocol/sdk'
import type { Call } from '../api/call.ts'
import type { PolicyLevel } from '../core/model/enums.ts'
import { AppError } from '../core/model/errors.ts'
import type { TaskView } from '../core/model/task-view.ts'
import { promptText } from './prompt.ts'
import { openSender, runTurn } from './turn.ts'
import { replayed } from './updates.ts'

export interface AcpOptions {
  /** The actions, opened for the client. */
  readonly call: Call
  /** Instead of the agent and the policy of the settings. */
  readonly agent?: string | undefined
  readonly policy?: PolicyLevel | undefined
  readonly version: string
}

interface Session {
  readonly repo: string
  /** As it was when the session was opened. */
  readonly task: TaskView
  /** Somebody has sent a prompt. */
  wasAsked?: true
  /** The turn that is under way. */
  turn?: { readonly cancel: AbortController; readonly ended: Promise<unknown> } | undefined
}

type Named = Pick<LoadSessionRequest, 'sessionId' | 'cwd'>

export interface Talks {
  /** Makes a task in the repository that holds the folder. */
  create(cwd: string, signal: AbortSignal): Promise<NewSessionResponse>
  /** Opens the session of an open task again, and tells the client what was said and done in it. */
  load(named: Named, client: AgentContext): Promise<object>
  /** The same without telling anything. */
  resume(named: Named): Promise<object>
  list(cwd: string | null | undefined): Promise<ListSessionsResponse>
  prompt(asked: PromptRequest, client: AgentContext, signal: AbortSignal): Promise<PromptResponse>
  cancel(sessionId: string): void
  close(sessionId: string): Promise<object>
  /** Cancels every turn, and closes every session. */
  end(): Promise<void>
}

export function openTalks({ call, agent, policy }: AcpOptions): Talks {
  const open = new Map<string, Session>()

  function requireSession(id: string): Session {
    const session = open.get(id)
    if (!session) throw RequestError.sessionNotFound(id)
    return session
  }

  async function find({ sessionId, cwd }: Named): Promise<Session> {
    const { tasks } = await call('task.list', { repo: requireAbsolute(cwd) })
    const task = tasks.find(({ uid }) => uid === sessionId)
    if (!task) throw RequestError.sessionNotFound(sessionId)
    const session = open.get(sessionId) ?? { repo: cwd, task }
    open.set(sessionId, session)
    return session
  }

  async function leave(id: string, session: Session): Promise<void> {
    session.turn?.cancel.abort(cancelled())
    await session.turn?.ended
    open.delete(id)
    // Editors open sessions in advance, and a task that nobody used would count against the limit.
    const { task, repo, wasAsked } = session
    if (wasAsked || task.runs > 0) return
    const { task: now } = await call('task.show', { repo, task: task.id })
    if (now.uid === id && now.runs === 0 && now.checkpoints === 0 && now.dirty === false)
      await call('task.delete', { repo, task: task.id })
  }

  return {
    async create(cwd, signal) {
      const { task } = await call('task.start', { repo: requireAbsolute(cwd) }, signal)
      open.set(task.uid, { repo: cwd, task })
      return { sessionId: task.uid }
    },
    async load(named, client) {
      const { repo, task } = await find(named)
      const { runs = [] } = await call('task.log', { repo, task: task.id, agent: true })
      const send = openSender(client, named.sessionId)
      for (const run of runs) send(replayed(run, task.path))
      await send.all()
      return {}
    },
    async resume(named) {
      await find(named)
      return {}
    },
    async list(cwd) {
      if (typeof cwd !== 'string') {
        const sessions = [...open].map(([sessionId, { repo, task }]) => sessionInfo(sessionId, repo, task))
        return { sessions }
      }
      const { tasks } = await call('task.list', { repo: requireAbsolute(cwd) })
      return {
        sessions: tasks.filter(({ runs }) => runs > 0).map((task) => sessionInfo(task.uid, cwd, task)),
      }
    },
    async prompt({ sessionId, prompt }, client, signal) {
      const session = requireSession(sessionId)
      if (session.turn) throw RequestError.invalidRequest(undefined, 'the session is in the middle of a turn')
      const cancel = new AbortController()
      const abort = () => cancel.abort(cancelled())
      signal.addEventListener('abort', abort, { once: true })
      if (signal.aborted) abort()
      const turn = (async () => {
        const task = await requireOpen(sessionId, session)
        const run = {
          repo: session.repo,
          task: task.id,
          create: false,
          prompt: promptText(prompt, task.origin),
          resume: task.conversation !== undefined,
          agent,
          policy,
        }
        return runTurn({ call, client, sessionId, run, task, signal: cancel.signal })
      })()
      session.turn = { cancel, ended: turn.catch(() => {}) }
      session.wasAsked = true
      try {
        return { stopReason: await turn }
      } finally {
        session.turn = undefined
      }
    },
    cancel: (sessionId) => open.get(sessionId)?.turn?.cancel.abort(cancelled()),
    async close(sessionId) {
      await leave(sessionId, requireSession(sessionId))
      return {}
    },
    async end() {
      await Promise.all([...open].map(([id, session]) => leave(id, session).catch(() => {})))
    },
  }

  /** The task as it is now. One that was closed meanwhile may have lent its id to another. */
  async function requireOpen(id: string, { repo, task }: Session): Promise<TaskView> {
    const { task: now } = await call('task.find', { repo, task: task.id })
    if (now?.uid !== id) throw RequestError.sessionNotFound(id)
    return now
  }
}

const cancelled = () => new AppError('cancelled', 'Cancelled by the client.')

function requireAbsolute(cwd: string): string {
  if (path.isAbsolute(cwd)) return cwd
  throw new AppError('wrongUsage', 'The folder of a session has to be an absolute path.', {
    hint: 'Open a folder in a git repository.',
  })
}

function sessionInfo(sessionId: string, cwd: string, { id, title, lastActiveAt }: TaskView) {
  return { sessionId, cwd, title: title === '' ? id : title, updatedAt: lastActiveAt }
}
