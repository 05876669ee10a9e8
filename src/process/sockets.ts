/** Finds out which network ports are in use (docs/adr/0024-ports-looked-at-before-the-first-command.md). */
import { readFile } from 'node:fs/promises'
import { createServer, isIPv6 } from 'node:net'
import type { Connection, ConnectionEnd, Sockets } from '../core/ports/processes.ts'

export function machineSockets(): Sockets {
  const isLinux = process.platform === 'linux'
  return { readBusy: isLinux ? findListening : tryEach, isOfOther: isLinux ? isOfOther : async () => false }
}

const us = process.geteuid?.() ?? 0

/** Root may be anybody, so that it counts as us. Whom the tables do not name may be anybody as well, but is let in nowhere. */
async function isOfOther({ ours, theirs }: Connection): Promise<boolean> {
  const user = userOf((await readTables()).join('\n'), theirs, ours)
  return user !== us && user !== 0
}

/** The user of the process that has the first of two ends; undefined when no row of the tables is about both. */
export function userOf(tables: string, from: ConnectionEnd, to: ConnectionEnd): number | undefined {
  const [locals, remotes] = [written(from), written(to)]
  for (const line of tables.split('\n')) {
    const [, local = '', remote = '', , , , , user] = line.trim().split(/\s+/)
    if (locals.includes(local) && remotes.includes(remote)) return Number(user)
  }
  return undefined
}

const mapped = '0000000000000000FFFF0000'

/** An end as the tables have it: an IPv4 address is in either table, as programs also reach it by a socket for IPv6. */
function written({ address, port }: ConnectionEnd): readonly string[] {
  const plain = address.replace(/^::ffff:(?=[\d.]+$)/i, '').replace(/%.*$/, '')
  const at = `:${hex(port, 4)}`
  if (isIPv6(plain)) return [`${bytesByFours(plain).map(word).join('')}${at}`]
  const four = word(plain.split('.').map(Number))
  return [`${four}${at}`, `${mapped}${four}${at}`]
}

const hex = (value: number, digits: number) => value.toString(16).toUpperCase().padStart(digits, '0')

/** The kernel writes each four bytes as one number of the machine, whose last byte comes first. */
const word = (bytes: readonly number[]) =>
  bytes
    .toReversed()
    .map((byte) => hex(byte, 2))
    .join('')

/** The sixteen bytes of an IPv6 address, by fours. */
function bytesByFours(address: string): number[][] {
  const [head = [], tail = []] = address.split('::').map((half) => half.split(':').filter(Boolean))
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  const groups = [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16))
  const bytes = groups.flatMap((group) => [group >> 8, group & 0xff])
  return [0, 4, 8, 12].map((at) => bytes.slice(at, at + 4))
}

/** The kernel's tables of connections; one that cannot be read is empty. */
function readTables(): Promise<string[]> {
  return Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'latin1').catch(() => '')),
  )
}

/** Asks the tables: trying each port would take too long before a command. */
async function findListening(wanted: readonly number[]): Promise<Set<number>> {
  const listening = new Set((await readTables()).flatMap(listeningPorts))
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
