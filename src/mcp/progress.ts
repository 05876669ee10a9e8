/** Tells a client that asked for it how far an action has come. */
import type { ServerContext } from '@modelcontextprotocol/server'
import type { Emit } from '../api/views.ts'
import { counted } from '../core/base/counted.ts'
import { printable } from '../core/base/printable.ts'
import type { Told } from '../protocol/events.ts'

/** Text of an agent comes in small parts; of those that come closer together than this only the first is told. */
const pauseMs = 200

const longest = 200

/** Without a token in the request the events are dropped, but never printed: stdout belongs to the protocol. */
export function progressTo({ mcpReq }: ServerContext): Emit {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return () => undefined
  let progress = 0
  let chatted = Number.NEGATIVE_INFINITY
  return (told) => {
    const words = progressWords(told)
    if (words === undefined) return
    if (told.event === 'message' || told.event === 'output') {
      if (performance.now() - chatted < pauseMs) return
      chatted = performance.now()
    }
    const params = { progressToken, progress: ++progress, message: cut(printable(words)) }
    // The client may have left; the action goes on or is cancelled by its signal.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
  }
}

const cut = (text: string) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text)

/** One line; undefined for an event that tells a user nothing. */
function progressWords(told: Told): string | undefined {
  switch (told.event) {
    case 'queued':
      return `Waiting: the limit of ${counted(told.limit, 'run')} in this repository is reached`
    case 'progress':
      return `${told.phase}: ${told.percent} %`
    case 'finishing':
      return `too late to cancel ${told.verb}: finishing`
    case 'started':
      return `${told.agent} is at work on ${told.task.id}`
    case 'message':
    case 'output':
      return told.text.trim() === '' ? undefined : told.text.trim()
    case 'tool.started':
      return `${told.tool} ${told.summary}`
    case 'decided':
      return told.allow ? undefined : `denied: ${told.tool} ${told.summary} (${told.reason})`
    case 'waiting':
      return `asks: ${told.tool} ${told.summary} (${told.reason}); task_answer answers`
    case 'checkpoint':
      return `step ${told.checkpoint.n}: ${told.checkpoint.files.map(({ path }) => path).join(', ')}`
    default:
      return undefined
  }
}
