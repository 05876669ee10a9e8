/** The log of the daemon: lines of JSON in a file of the state folder, without any secret. */
import { chmodSync, closeSync, existsSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs'
import { type Logger, pino } from 'pino'
import { olderLogFile } from '../core/model/layout.ts'
import { withoutSecretFormats } from '../core/model/secrets.ts'

export type Log = Logger

/** Then the file is renamed, in place of the one before. */
const largest = 5 * 1024 * 1024

/** Opens the log. With `hear`, each line is also handed to it. */
export function openLog(file: string, hear?: (line: string) => void): { readonly log: Log; close(): void } {
  const sink = openSink(file)
  const write = (line: string) => {
    const clean = withoutSecretFormats(line, '***')
    sink.write(clean)
    hear?.(clean)
  }
  const hidden = ['token', 'key', 'code', 'authorization', '*.token', '*.key', '*.code', '*.authorization']
  const log = pino({ base: { pid: process.pid }, redact: hidden, level: 'debug' }, { write })
  return { log, close: sink.close }
}

/** Appends to a file and lets no write fail the daemon: a full disk costs lines of the log, nothing else. */
function openSink(file: string) {
  let open = openSync(file, 'a', 0o600)
  chmodSync(file, 0o600)
  let size = fstatSync(open).size
  const rotate = () => {
    // It is missing when the last attempt got no further.
    if (existsSync(file)) renameSync(file, olderLogFile(file))
    const next = openSync(file, 'a', 0o600)
    // Last: after a failure above, the number of a closed file could be that of somebody else's.
    closeSync(open)
    open = next
    size = 0
  }
  return {
    write(line: string) {
      try {
        if (size > largest) rotate()
        size += writeSync(open, line)
      } catch {
        // The log is a help, and no promise.
      }
    },
    close: () => closeSync(open),
  }
}
