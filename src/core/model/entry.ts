/** The text of an event in the log: the event as JSON, with the pid of the process that appended it. */
import type { StoredEvent, TaskEvent } from './events.ts'

export function entryText(event: TaskEvent, pid: number | undefined): string {
  return JSON.stringify({ ...event, pid })
}

/** Throws a SyntaxError when the text is not JSON. */
export function parseEntry(text: string): Pick<StoredEvent, 'event' | 'pid'> {
  const { pid, ...event } = JSON.parse(text) as TaskEvent & { readonly pid?: number }
  return { ...(pid !== undefined && { pid }), event }
}
