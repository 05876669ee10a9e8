/** The daemon: opens its doors, writes daemon.json, and closes them in order when it is told to stop (docs/adr/0060-one-guard.md). */
import { rmSync } from 'node:fs'
import type { Server } from 'node:http'
import { openFeeds } from '../api/follow.ts'
import { readKeys } from '../api/keys.ts'
import type { DaemonNote } from '../client/daemon.ts'
import { daemonFile, daemonLogFile, daemonSocket } from '../core/model/layout.ts'
import { isExpired } from '../core/model/token.ts'
import type { Ports } from '../core/ports/index.ts'
import { type AddressInput, entranceOf, requireAddress, socketEntrance } from './address.ts'
import { openApi } from './api.ts'
import { openAttempts } from './attempts.ts'
import type { DiskNotice } from './connection.ts'
import { credentialOf, makeOwnToken, openValidity, type OwnToken } from './credentials.ts'
import type { Entrance } from './guard.ts'
import { type HttpDoor, openHttp, openInspect } from './http.ts'
import { type FindPlay, openLines } from './lines.ts'
import { listenAt, listenOn, makeSocketServer, makeTcpServer, type Tls } from './listen.ts'
import { type Log, openLog } from './log.ts'
import { openMcpWay } from './mcp.ts'
import { openMetrics } from './metrics.ts'
import { openOnce } from './once.ts'
import { openPerform, type Outcome } from './perform.ts'
import { type Driven, driveOrchestrator } from './orchestrator.ts'
import { openSockets } from './sockets.ts'
import { openUnderWay } from './under-way.ts'
import { type Accepts, openUpgrade } from './upgrade.ts'
import { openWays } from './ways.ts'

export interface ServeInput extends Omit<AddressInput, 'hasTls' | 'hasToken'> {
  readonly tls?: Tls | undefined
  readonly version: string
  /** A private folder for the socket. */
  readonly socketFolder: string
  /** Calls back after each append of this process to the log, so that subscribers need not wait until somebody looks. */
  readonly onAppend: (appended: () => void) => void
  /** How a line of the `offshoot` command is played. */
  readonly findPlay: FindPlay
  /** Hears each line of the log. */
  readonly hear?: ((line: string) => void) | undefined
}

/** A daemon that listens. */
export interface Listening extends Omit<DaemonNote, 'token'> {
  /** A one-time code for a page. */
  makeCode(): string
}

/**
 * Serves until the signal aborts, or until somebody with its token asks it to stop. Answers `busy`, without having done
 * anything, while another daemon has this state folder: the lock dies with its holder, so no daemon can seem to be there.
 */
export async function serve(
  ports: Ports,
  input: ServeInput,
  onListening: (listening: Listening) => void,
  signal: AbortSignal,
): Promise<'busy' | 'stopped'> {
  const held = await ports.locks.tryHold('daemon', { verb: 'serve' }, async () => {
    const { log, close } = openLog(daemonLogFile(ports.home), input.hear)
    try {
      await run(ports, input, log, onListening, signal)
    } catch (thrown) {
      log.error({ err: thrown }, 'the daemon failed')
      throw thrown
    } finally {
      close()
    }
  })
  return held === 'busy' ? 'busy' : 'stopped'
}

async function run(
  ports: Ports,
  input: ServeInput,
  log: Log,
  onListening: (listening: Listening) => void,
  signal: AbortSignal,
): Promise<void> {
  const address = await requireOwnAddress(ports, input)
  const own = makeOwnToken(ports.ids)
  const stopping = new AbortController()
  const onSignal = () => stopping.abort()
  signal.addEventListener('abort', onSignal)
  const door = openCore(ports, input, own, log, stopping)
  const servers = { tcp: makeTcpServer(input.tls), socket: makeSocketServer() }
  const socket = daemonSocket(input.socketFolder)
  try {
    signal.throwIfAborted()
    // First: a request that comes in before its handler would never be answered.
    connect(door, servers.socket, socketEntrance(socket))
    await listenAt(servers.socket, socket)
    const entrance = entranceOf(address, await listenOn(servers.tcp, input.host, input.port))
    connect(door, servers.tcp, entrance)
    const note: DaemonNote = {
      pid: process.pid,
      url: entrance.origin,
      socket,
      token: own.text,
      startedAt: ports.clock.now().toISOString(),
      version: input.version,
    }
    await ports.files.write(daemonFile(ports.home), `${JSON.stringify(note, null, 2)}\n`, 0o600)
    log.info({ url: note.url, socket, version: note.version }, 'listening')
    const { token: _, ...shown } = note
    door.orchestrate()
    onListening({ ...shown, makeCode: door.makeCode })
    await aborted(stopping.signal)
    log.info('stopping')
  } finally {
    signal.removeEventListener('abort', onSignal)
    rmSync(daemonFile(ports.home), { force: true })
    await door.drain(Object.values(servers))
    log.info('stopped')
  }
}

/** Refuses an address that other machines reach unless they need a token for it. */
async function requireOwnAddress(ports: Ports, { tls, ...input }: ServeInput): Promise<AddressInput> {
  const now = ports.clock.now()
  const hasToken = (await readKeys(ports)).some(
    (token) => token.rights.kind === 'scope' && !isExpired(token, now),
  )
  const address = { ...input, hasTls: tls !== undefined, hasToken }
  requireAddress(address)
  return address
}

interface Core extends HttpDoor {
  readonly accepts: Accepts
  makeCode(): string
  /** Begins to start queued runs, and to do what comes back at intervals. */
  orchestrate(): void
  /** Stops accepting, waits for the requests under way, then cancels them, and closes every connection. */
  drain(servers: readonly Server[]): Promise<void>
}

/** How long requests under way may take to end after the stop began, and then to be cancelled. */
const graceMs = 10_000
const cancelMs = 5000
const farewellMs = 1000

/** Everything behind the entrances: the guard with what it knows, and the ways. */
function openCore(
  ports: Ports,
  { version, onAppend, findPlay }: ServeInput,
  own: OwnToken,
  log: Log,
  stopping: AbortController,
): Core {
  const metrics = openMetrics()
  const attempts = openAttempts(() => performance.now())
  const underWay = openUnderWay()
  const cancelling = new AbortController()
  const drained = Promise.withResolvers<void>()
  let waitingForStop = 0
  const readKnown = async () => {
    // Without the file the owner still gets in, and can make new tokens.
    const kept = await readKeys(ports).catch((thrown: unknown) => {
      log.error({ err: thrown }, 'the tokens cannot be read')
      return []
    })
    return { credentials: [own.credential, ...kept.map(credentialOf)], now: ports.clock.now() }
  }
  const stop = async () => {
    waitingForStop += 1
    stopping.abort()
    await drained.promise
  }
  const once = openOnce<Outcome>(() => performance.now())
  const perform = openPerform(ports, once, cancelling.signal)
  const api = openApi(perform)
  const feeds = openFeeds(ports, (thrown) => log.warn({ err: thrown }, 'a forecast cannot be made'))
  let driven: Driven | undefined
  let fullDisk: DiskNotice | undefined
  onAppend(() => {
    feeds.feed.wake()
    feeds.forecasts.wake()
    driven?.wake()
  })
  const isValid = openValidity(readKnown, () => performance.now())
  const sockets = openSockets({
    ...feeds,
    ports,
    daemon: ports.ids.uid(),
    perform,
    underWay,
    log,
    metrics,
    isValid,
    findFullDisk: () => fullDisk,
  })
  const disk = (usedPercent: number, warnPercent: number) => {
    const payload = {
      at: ports.clock.now().toISOString(),
      full: usedPercent >= warnPercent,
      usedPercent,
      warnPercent,
    }
    const notice = { type: 'notification', action: 'disk', payload } as const
    fullDisk = payload.full ? notice : undefined
    sockets.tell(notice)
  }
  const mcp = openMcpWay(ports, version)
  const needs = { ports, version, token: own.text, metrics, attempts, api, mcp, stop }
  const { makeCode, ...ways } = openWays(needs)
  metrics.gauge('offshoot_requests_under_way', 'Requests that are being answered.', () => underWay.size)
  metrics.gauge('offshoot_sockets', 'WebSockets that are open.', () => sockets.size)
  metrics.gauge('offshoot_socket_waiting_bytes', 'What clients have not taken yet.', () => sockets.waiting)
  metrics.gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss())
  metrics.gauge('process_uptime_seconds', 'Time since the start.', () => process.uptime())
  return {
    log,
    metrics,
    ways,
    underWay,
    makeCode,
    orchestrate: () => void (driven = driveOrchestrator({ ports, log, metrics, disk })),
    accepts: { socket: sockets.accept, command: openLines({ findPlay, underWay, log, metrics }) },
    inspect: openInspect({ log, metrics, attempts }, readKnown),
    async drain(servers) {
      const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)))
      sockets.retire()
      await feeds.forecasts.close()
      // Its runs go on in processes of their own.
      await driven?.close()
      await underWay.settle(graceMs, waitingForStop)
      cancelling.abort()
      underWay.cancelAll()
      await underWay.settle(cancelMs, waitingForStop)
      drained.resolve()
      await underWay.settle(farewellMs, 0)
      await Promise.race([
        Promise.all(closed),
        new Promise((resolve) => setTimeout(resolve, farewellMs).unref()),
      ])
      sockets.close()
      for (const server of servers) server.closeAllConnections()
      await Promise.all(closed)
    },
  }
}

function connect(door: Core, server: Server, entrance: Entrance): void {
  server.on('request', openHttp(door, entrance))
  server.on('upgrade', openUpgrade(door.inspect, entrance, door.accepts))
  server.on('clientError', (_, connection) => connection.destroy())
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
