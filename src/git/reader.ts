/** Reads objects through one long-lived `git cat-file`, which starts at the first read. */
import { AppError } from '../core/model/errors.ts'
import type { GitPipe } from './exec.ts'

export interface ObjectReader {
  /** undefined when neither the repository nor its alternates have the object. */
  read(oid: string): Promise<Buffer | undefined>
  /** The object's size; undefined when it is missing. */
  readSize(oid: string): Promise<number | undefined>
  close(): void
  /** Closes it, and resolves when its process has ended. Later reads start another one. */
  end(): Promise<void>
}

interface Waiting {
  /** Git answers with the first line only. */
  readonly info: boolean
  resolve(found: { size: number; content: Buffer } | undefined): void
  reject(error: Error): void
}

/** How long git may say nothing about an object: only one that waits for ever does, for example one that opened a pipe. */
const silenceMs = 60_000

type ReadScope = { readonly gitDir: string; readonly alternates: readonly string[] }

export function objectReader(open: GitPipe, scope: ReadScope, deadlineMs = silenceMs): ObjectReader {
  let current: ReturnType<typeof openConversation> | undefined
  const ask = (command: 'contents' | 'info', oid: string) => {
    if (!current) {
      const begun = openConversation(open, scope, deadlineMs, () => {
        if (current === begun) current = undefined
      })
      current = begun
    }
    return current.ask(command, oid)
  }
  return {
    read: async (oid) => (await ask('contents', oid))?.content,
    readSize: async (oid) => (await ask('info', oid))?.size,
    close() {
      current?.close()
      // That process still answers its open questions; later reads start another one.
      current = undefined
    },
    async end() {
      const ending = current
      current = undefined
      await ending?.end()
    },
  }
}

/** Talks to one git process until it ends. */
function openConversation(open: GitPipe, scope: ReadScope, deadlineMs: number, onEnd: () => void) {
  const waiting: Waiting[] = []
  let chunks: Buffer[] = []
  let size = 0
  let needed = 1
  let silence: NodeJS.Timeout | undefined

  /** Every word of git's answer gives it the whole time again. */
  function awaitAnswer(): void {
    clearTimeout(silence)
    if (waiting.length > 0) silence = setTimeout(giveUp, deadlineMs)
  }

  function giveUp(): void {
    fail(silentError(scope, deadlineMs))
    pipe.kill()
  }

  function fail(error: Error): void {
    onEnd()
    clearTimeout(silence)
    for (const { reject } of waiting.splice(0)) reject(error)
  }

  /** `<oid> <type> <size>\n<content>\n`, or `<oid> missing\n`. Chunks are joined only when all have come. */
  function receive(chunk: Buffer): void {
    chunks.push(chunk)
    size += chunk.length
    while (waiting.length > 0 && size >= needed) {
      const whole = Buffer.concat(chunks, size)
      chunks = [whole]
      const line = whole.indexOf(0x0a)
      if (line === -1) return
      const [, type, length] = whole.toString('latin1', 0, line).split(' ')
      const missing = type === 'missing'
      const end = line + 1 + (missing || waiting[0]?.info ? 0 : Number(length) + 1)
      needed = end
      if (size < end) return
      chunks = [whole.subarray(end)]
      size -= end
      needed = 1
      const content = whole.subarray(line + 1, Math.max(line + 1, end - 1))
      waiting.shift()?.resolve(missing ? undefined : { size: Number(length), content })
    }
    if (waiting.length === 0) pipe.idle(true)
  }

  const pipe = open({ args: ['cat-file', '--batch-command'], cwd: scope.gitDir, ...scope })
  pipe.onData((chunk) => {
    receive(chunk)
    awaitAnswer()
  })
  const ended = new Promise<void>((resolve) => {
    pipe.onEnd((error) => {
      fail(error)
      resolve()
    })
  })
  return {
    ask: (command: 'contents' | 'info', oid: string) =>
      new Promise<{ size: number; content: Buffer } | undefined>((resolve, reject) => {
        waiting.push({ info: command === 'info', resolve, reject })
        if (waiting.length === 1) awaitAnswer()
        pipe.idle(false)
        pipe.write(`${command} ${oid}\n`)
      }),
    close: pipe.close,
    end() {
      pipe.idle(false)
      pipe.close()
      return ended
    },
  }
}

function silentError({ gitDir, alternates }: ReadScope, deadlineMs: number): AppError {
  const folder = alternates[0] ?? gitDir
  return new AppError('failed', `git cat-file did not answer for ${deadlineMs / 1000} s, and was ended.`, {
    data: { args: ['cat-file', '--batch-command'], stderr: '', killed: true },
    path: folder,
    hint: `Something there may be no plain file. To list such: find '${folder}' -not -type f -not -type d`,
  })
}
