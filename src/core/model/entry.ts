/** The text of an event as it lies in the log: the event, and the process that told it. */
import type { StoredEvent, TaskEvent } from './events.ts'

export function entryText(event: TaskEvent, pid: number | undefined): string {
  return JSON.stringify({ ...event, pid })
}

/** Throws a SyntaxError when the text is none. */
export function parseEntry(text: string): Pick<StoredEvent, 'event' | 'pid'> {
  const { pid, ...event } = JSON.parse(text) as TaskEvent & { readonly pid?: number }
  return { ...(pid !== undefined && { pid }), event }
}
