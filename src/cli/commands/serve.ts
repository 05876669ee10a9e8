/** `serve`: runs the daemon until it is told to stop, or says where it already runs. */
import { readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Daemon, findDaemon } from '../../client/daemon.ts'
import { composeDaemon } from '../../compose/daemon.ts'
import { pause } from '../../core/base/pause.ts'
import { AppError } from '../../core/model/errors.ts'
import { defaultPort, loopback } from '../../daemon/address.ts'
import { type Listening, serve as run } from '../../daemon/main.ts'
import { openBrowser } from '../browser.ts'
import { type Answer, choice, type Context, flag, text } from '../command.ts'
import { printable } from '../output.ts'
import { playerOn } from '../served.ts'
import { write } from '../stdout.ts'
import { readVersion } from '../version.ts'
import { bin } from '../bin.ts'
import { isOlder } from '../older.ts'
import { type UnitKind, unitKinds, unitFile } from '../unit-file.ts'
import { requireNoAgent, requireStopped } from './daemon.ts'

export async function serve(context: Context): Promise<Answer> {
  const { values, env, signal } = context
  requireNoAgent(env, 'serve')
  const kind = choice(values, 'install', unitKinds)
  if (kind !== undefined || text(values, 'install') === '') return install(context, kind ?? ownKind())
  const input = {
    host: text(values, 'host') ?? loopback,
    port: portOf(text(values, 'port')),
    name: text(values, 'name'),
    tls: tlsOf(context),
    version: readVersion(),
    hear: flag(values, 'verbose') ? (line: string) => void process.stderr.write(line) : undefined,
  }
  const { ports, socketFolder, onAppend } = composeDaemon(env)
  try {
    const tell = (listening: Listening) => show(context, listening, listening.makeCode)
    const findPlay = playerOn(context.play, ports, env, input.version)
    const begin = () => run(ports, { ...input, socketFolder, onAppend, findPlay }, tell, signal)
    // The other daemon may be about to write daemon.json, or to end.
    for (let until = performance.now() + patienceMs; ; await pause(100, signal)) {
      if ((await begin()) === 'stopped') return { json: { stopped: true }, text: '' }
      const daemon = await findDaemon(ports.home)
      if (daemon && !isOlder(daemon.version, input.version)) return await already(context, daemon)
      if (daemon) {
        await replace(context, daemon)
        until = performance.now() + patienceMs
      }
      if (performance.now() > until || signal.aborted) throw silent()
    }
  } finally {
    await ports.close()
  }
}

/**
 * An older daemon would not know what this version writes. It ends the requests that are under way, up to its own limit;
 * its runs go on in processes of their own, and its queue is in the records.
 */
async function replace({ tell, signal }: Context, daemon: Daemon): Promise<void> {
  tell(`The daemon of version ${daemon.version} ends, and this one takes its place.`)
  await requireStopped(daemon, signal)
}

const ownKind = (): UnitKind => (process.platform === 'darwin' ? 'launchd' : 'systemd')

/** Prints the file and changes nothing: where it belongs and how it is begun is told beside it. */
function install({ env, values, tell }: Context, kind: UnitKind): Answer {
  const given = ['port', 'host', 'name', 'tls-cert', 'tls-key'].flatMap((name) => {
    const value = text(values, name)
    return value === undefined ? [] : [`--${name}=${name.startsWith('tls') ? path.resolve(value) : value}`]
  })
  const kept = ['PATH', 'OFFSHOOT_HOME', 'XDG_STATE_HOME', 'XDG_CONFIG_HOME']
  const unit = unitFile(kind, {
    words: [process.execPath, bin, 'serve', ...given],
    env: Object.fromEntries(kept.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
    home: os.homedir(),
    uid: process.getuid?.() ?? 0,
  })
  tell(`Save this as ${printable(unit.path)}, then run:`)
  for (const line of unit.commands) tell(`  ${printable(line)}`)
  return { json: { kind, ...unit }, text: unit.content.trimEnd() }
}

const patienceMs = 5000

const silent = () =>
  new AppError('locked', 'Another daemon has this state folder, and does not answer.', {
    hint: 'Wait a moment, then repeat.',
  })

function portOf(given: string | undefined): number {
  return given === undefined ? defaultPort : Number(given.trim() === '' ? Number.NaN : given)
}

function tlsOf({ dir, values }: Context): { cert: Buffer; key: Buffer } | undefined {
  const [cert, key] = [text(values, 'tls-cert'), text(values, 'tls-key')]
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined)
    throw new AppError('wrongUsage', 'TLS needs a certificate and its key.', {
      hint: 'Give both: --tls-cert FILE --tls-key FILE',
    })
  return { cert: readPem(path.resolve(dir, cert)), key: readPem(path.resolve(dir, key)) }
}

function readPem(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (cause) {
    throw new AppError('notFound', `The file ${printable(file)} cannot be read.`, {
      path: file,
      hint: 'Name the certificate with --tls-cert and its key with --tls-key.',
      cause,
    })
  }
}

/** The code is in the fragment, which no browser sends and no log holds. */
const pageAt = (url: string, code: string) => `${url}/#code=${code}`

function show(context: Context, { url, socket, pid }: Listening, makeCode: () => string): void {
  if (flag(context.values, 'json')) write(`${JSON.stringify({ event: 'listening', url, socket, pid })}\n`)
  else write(`Listening on ${url}\n`)
  if (flag(context.values, 'open')) openPage(context, pageAt(url, makeCode()))
}

function openPage({ env, tell }: Context, page: string): void {
  if (openBrowser(page, env)) return
  tell(`No browser was found. Open this yourself within a minute: ${page}`)
}

/** The daemon that has the lock and has proven to be the one; `--open` opens its page. */
async function already(context: Context, daemon: Daemon): Promise<Answer> {
  const { url, pid, socket } = daemon
  if (flag(context.values, 'open')) {
    const { body } = await daemon.post('/page/code', {})
    openPage(context, pageAt(url, (body as { code: string }).code))
  }
  return {
    json: { already: true, url, pid, socket },
    text: `Already listening on ${url}, as process ${pid}.`,
  }
}
