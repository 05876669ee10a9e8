/**
 * Writes to stdout. Loading the streams of Node takes a tenth of the time of a short command, so this file loads them only
 * for a terminal or a slow reader.
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
    // The reader closed the pipe, as `head` does, which is no failure.
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
