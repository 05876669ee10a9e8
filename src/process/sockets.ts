/** Finds out which network ports are in use (docs/adr/0024-ports-looked-at-before-the-first-command.md). */
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { Connection, Sockets } from '../core/ports/processes.ts'

export function machineSockets(): Sockets {
  const isLinux = process.platform === 'linux'
  return { readBusy: isLinux ? readTables : tryEach, isOfOther: isLinux ? isOfOther : async () => false }
}

const us = process.geteuid?.() ?? 0

/** Root may be anybody, so that only a user like us counts as another. */
async function isOfOther({ ours, theirs }: Connection): Promise<boolean> {
  const user = userOf(await readFile('/proc/net/tcp', 'latin1').catch(() => ''), theirs, ours)
  return user !== undefined && user !== us && user !== 0
}

/** The user of the process that connected from one port of this machine to another. */
export function userOf(table: string, from: number, to: number): number | undefined {
  const end = (port: number) => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  for (const line of table.split('\n')) {
    const [, local, remote, , , , , user] = line.trim().split(/\s+/)
    if (local === end(from) && remote === end(to)) return Number(user)
  }
  return undefined
}

/** Reads the kernel's tables: trying each port would take too long before a command. */
async function readTables(wanted: readonly number[]): Promise<Set<number>> {
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'latin1').catch(() => '')),
  )
  const listening = new Set(tables.flatMap(listeningPorts))
  return new Set(wanted.filter((port) => listening.has(port)))
}

const listenState = '0A'

/** The ports in a table of /proc/net that a process listens on. */
export function listeningPorts(table: string): number[] {
  return table.split('\n').flatMap((line) => {
    const [, local = '', , state] = line.trim().split(/\s+/)
    return state === listenState ? [Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16)] : []
  })
}

/** For systems without such tables: if we can listen on a port, nobody else does. */
export async function tryEach(wanted: readonly number[]): Promise<Set<number>> {
  const free = await Promise.all(
    wanted.map(async (port) => (await isFree(port, '127.0.0.1')) && (await isFree(port, '::1'))),
  )
  return new Set(wanted.filter((_, n) => !free[n]))
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    // Without this kind of address nobody can listen on it, so any other error means free.
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'EADDRINUSE'))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
