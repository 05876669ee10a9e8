/** The transcript that Codex keeps of a conversation, as far as it tells which calls the model has had an answer to. */
import { open, stat } from 'node:fs/promises'
import { lines } from '../core/base/lines.ts'
import { shaped } from './shape.ts'

export interface Transcript {
  /** Whether the model has had an answer to the call; false where there is no transcript. One caller at a time. */
  isAnswered(id: string): Promise<boolean>
}

const entryShape = { payload: { type: 'string', call_id: 'string' } } as const

/** Remembers how long the file is now: the answer to a call that has not begun comes later. */
export async function openTranscript(file: string | undefined): Promise<Transcript> {
  const from = file === undefined ? undefined : await sizeOf(file)
  if (file === undefined || from === undefined) return { isAnswered: async () => false }
  const readAnswered = reader(file, from)
  return {
    isAnswered: (id) =>
      readAnswered().then(
        (answered) => answered.has(id),
        () => false,
      ),
  }
}

/** Undefined for what is no file: reading a pipe would wait for ever. */
async function sizeOf(file: string): Promise<number | undefined> {
  const found = await stat(file).catch(() => undefined)
  return found?.isFile() ? found.size : undefined
}

/** Reads what was appended since the last time, and answers the calls that have had an answer. */
function reader(file: string, from: number): () => Promise<ReadonlySet<string>> {
  const answered = new Set<string>()
  const read = lines(
    (line) => {
      const id = answeredBy(line)
      if (id !== undefined) answered.add(id)
    },
    () => {},
  )
  let at = from
  return async () => {
    const handle = await open(file)
    try {
      const buffer = Buffer.alloc(64 * 1024)
      for (;;) {
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, at)
        if (bytesRead === 0) return answered
        at += bytesRead
        // Ids are ASCII, so a character that is cut in two does no harm.
        read.add(buffer.toString('latin1', 0, bytesRead))
      }
    } finally {
      await handle.close()
    }
  }
}

function answeredBy(line: string): string | undefined {
  if (!line.includes('_call_output')) return undefined
  try {
    const { payload } = shaped(entryShape, JSON.parse(line))
    return payload?.type?.endsWith('_call_output') ? payload.call_id : undefined
  } catch {
    return undefined
  }
}
