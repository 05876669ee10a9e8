/** Objects read through one long-lived `git cat-file`, started when first needed. */
import type { GitPipe, OpenPipe } from './exec.ts'

export interface ObjectReader {
  /** undefined when neither the repository nor its alternates have it. */
  read(oid: string): Promise<Buffer | undefined>
  /** Its size; undefined when it is missing. */
  readSize(oid: string): Promise<number | undefined>
  close(): void
}

interface Waiting {
  /** Only the first line is wanted. */
  readonly info: boolean
  resolve(found: { size: number; content: Buffer } | undefined): void
  reject(error: Error): void
}

export function objectReader(
  open: GitPipe,
  scope: { gitDir: string; alternates: readonly string[] },
): ObjectReader {
  let pipe: OpenPipe | undefined
  let waiting: Waiting[] = []
  let chunks: Buffer[] = []
  let size = 0
  let needed = 1

  const start = () => {
    chunks = []
    size = 0
    needed = 1
    const opened = open({ args: ['cat-file', '--batch-command'], cwd: scope.gitDir, ...scope })
    opened.onData(take)
    opened.onEnd((error) => {
      if (pipe === opened) pipe = undefined
      const lost = waiting
      waiting = []
      for (const { reject } of lost) reject(error)
    })
    return opened
  }

  /** `<oid> <type> <size>\n<content>\n`, or `<oid> missing\n`. Nothing is joined before all of it has come. */
  function take(chunk: Buffer): void {
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
    if (waiting.length === 0) pipe?.idle(true)
  }

  const ask = (command: 'contents' | 'info', oid: string) => {
    pipe ??= start()
    const { write, idle } = pipe
    return new Promise<{ size: number; content: Buffer } | undefined>((resolve, reject) => {
      waiting.push({ info: command === 'info', resolve, reject })
      idle(false)
      write(`${command} ${oid}\n`)
    })
  }

  return {
    read: async (oid) => (await ask('contents', oid))?.content,
    readSize: async (oid) => (await ask('info', oid))?.size,
    close: () => pipe?.close(),
  }
}
