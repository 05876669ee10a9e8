/**
 * Where a command prints. To load the streams of Node takes a tenth of the time of a short command: it is done only where
 * a terminal may be, or a reader is slow.
 */
import { fstatSync, writeSync } from 'node:fs'

let slow = false

export function write(text: string): void {
  const bytes = Buffer.from(text)
  let at = 0
  try {
    while (!slow && at < bytes.length) at += writeSync(1, bytes, at)
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    // Whoever read our output has enough of it: that is no failure.
    if (code === 'EPIPE') process.exit(0)
    if (code !== 'EAGAIN') throw thrown
    process.stdout.on('error', leaveQuietly)
    slow = true
  }
  if (at < bytes.length) process.stdout.write(bytes.subarray(at))
}

function leaveQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
}

export function isTerminal(): boolean {
  return fstatSync(1).isCharacterDevice() && process.stdout.isTTY
}
