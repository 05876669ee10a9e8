/** The entry of the command line: parses the line, calls the command, prints its answer (docs/adr/0016-records-apart-and-one-bundle.md). */
import path from 'node:path'
import { openDoor, openLook } from '../api/call.ts'
import { type Caller, callerOf } from '../api/caller.ts'
import { isRecordAction } from '../api/handlers/records.ts'
import type { Emit } from '../api/views.ts'
import type { Composed } from '../compose/full.ts'
import { composeRecords, findRun, type OpenRecords } from '../compose/records.ts'
import { stateFolder } from '../compose/state-folder.ts'
import { type AppError, appError } from '../core/model/errors.ts'
import type { Told } from '../protocol/events.ts'
import type { Output } from '../protocol/schemas/index.ts'
import { cut, type Line, parse, readGlobals } from './arguments.ts'
import { type Cancel, type Listen, openCancel } from './cancel.ts'
import { type Answer, type Context, flag, type Terminal, text } from './command.ts'
import { commands } from './commands.ts'
import { painter, printable, printableText, progressText, shortList } from './output.ts'
import { type StatusLine, statusLine } from './status-line.ts'
import { isTerminal, write } from './stdout.ts'

/** Runs one command line and answers its exit code. */
export async function main(argv: readonly string[], listen?: Listen): Promise<number> {
  const line = cut(argv)
  try {
    return await run(line, openCancel(listen))
  } catch (thrown) {
    const error = appError(thrown)
    const globals = readGlobals(line)
    if (flag(globals, 'json')) print({ ok: false, error: error.toJSON() })
    else complain(error, flag(globals, 'verbose'), flag(globals, 'no-color'))
    return error.exitCode
  }
}

async function run(line: Line, cancel: Cancel): Promise<number> {
  const { signal } = cancel
  const { command, values, positionals, rest } = parse(line)
  if (flag(values, 'version')) return say((await import('./version.ts')).readVersion())
  if (flag(values, 'help')) {
    const { commandHelp, overview } = await import('./help.ts')
    say(command ? commandHelp(command) : overview(commands))
    return 0
  }
  const json = flag(values, 'json')
  const quiet = json || flag(values, 'quiet')
  const colored = isTerminal() && !process.env.NO_COLOR && !flag(values, 'no-color')
  const named = text(values, 'directory')
  const status = statusLine(quiet)
  let terminal: Terminal = {}
  const tell = (line: string) => {
    if (terminal.tell) return terminal.tell(line)
    status.clear()
    if (!quiet) process.stderr.write(`${line}\n`)
  }
  const hear: Emit = (event) => {
    if (terminal.tell) return hearOnScreen(terminal.tell, event)
    // A hook may print what the agent wrote.
    if (event.event === 'output' && !quiet) {
      status.clear()
      process.stderr.write(printableText(event.text))
    }
    if (event.event === 'progress' && !quiet) showProgress(status, event)
    if (event.event === 'finishing') tell(`too late to cancel ${command?.name ?? event.verb}: finishing`)
  }
  const door = openDoors(signal, named, hear)
  const context: Context = {
    dir: path.resolve(named ?? process.cwd()),
    values,
    positionals,
    rest,
    env: process.env,
    home: stateFolder(process.env),
    signal,
    paint: painter(colored),
    colored,
    emit: print,
    hear,
    tell,
    follow: door.follow,
    openServer: door.openServer,
    useTerminal(by = {}) {
      terminal = by
      cancel.onInterrupt = by.onInterrupt
    },
    call: async (action, input, emit, also) => {
      const answer = await door.call(action, input, emit, also)
      if ('warnings' in answer)
        for (const warning of answer.warnings ?? [])
          context.tell(`${context.paint('yellow', 'warning:')} ${printable(warning)}`)
      return answer
    },
  }
  const takeNotices = async () => {
    // With --quiet a notice waits for the next command.
    const isHeard = !flag(values, 'quiet') && !command?.isForPrograms
    const notices = isHeard ? await door.notices(context.dir) : []
    for (const { message, operation } of notices) {
      const undo = operation === undefined ? '' : ` offshoot undo ${operation.slice(0, 6)} brings it back.`
      const sentence = printable(message).replace(/\.?$/, '.')
      context.tell(`${context.paint('yellow', 'notice:')} ${sentence}${undo}`)
    }
    return notices
  }
  try {
    const load = command?.load ?? (async () => (await import('./commands/waiting.ts')).waiting)
    const answer = await (await load())(context)
    status.clear()
    const notices = await takeNotices()
    if (json) print({ ok: true, ...answer.json, ...(notices.length > 0 && { notices }) })
    else if (answer.text !== '') await show(answer)
    return answer.exitCode ?? 0
  } catch (error) {
    status.clear()
    if (!json) await takeNotices()
    throw error
  } finally {
    await door.close()
  }
}

interface Doors extends Pick<Context, 'call' | 'follow' | 'openServer'> {
  /** The notices that the user has not been told yet. */
  notices(dir: string): Promise<Output<'system.notices'>['notices']>
  close(): Promise<void>
}

/** Actions whose command writes to the terminal itself. */
const speaking: ReadonlySet<string> = new Set(['task.run', 'system.direct'])

/** Opens the way to the verbs. An action that reads only the records is answered without loading the other adapters, which keeps `list` fast. */
function openDoors(signal: AbortSignal, named: string | undefined, said: Emit): Doors {
  let records: OpenRecords | undefined
  let ports: Composed | undefined
  let caller: Caller | undefined
  const readCaller = () => (caller ??= callerOf(findRun(process.env), Boolean(process.env.CI)))
  const openPorts = async () => {
    const { compose } = await import('../compose/full.ts')
    return (ports ??= compose({ named }))
  }
  const call: Context['call'] = async (action, input, emit, also) => {
    const ends = also ? AbortSignal.any([signal, also]) : signal
    if (isRecordAction(action) && !ports) {
      records ??= composeRecords(process.env, named)
      return openLook(records, readCaller)(action, input as never, ends) as never
    }
    // The output of hooks during a verb is printed as progress.
    const heard = emit ?? (speaking.has(action) ? undefined : said)
    return openDoor(await openPorts(), readCaller)(action, input, ends, heard)
  }
  return {
    call,
    async *follow(input) {
      const { openFollow } = await import('../api/follow.ts')
      const ends = input.signal ? AbortSignal.any([signal, input.signal]) : signal
      yield* openFollow(await openPorts(), readCaller)({ ...input, signal: ends })
    },
    async openServer(as) {
      const { compose } = await import('../compose/full.ts')
      ports ??= compose({ named, lendsStreams: false })
      const asking = as(readCaller())
      return { call: openDoor(ports, () => asking), caller: asking }
    },
    async notices(dir) {
      // A command that opened neither records nor ports, such as `help`, must not open them for notices.
      if (!ports && !records) return []
      return call('system.notices', { repo: dir }).then(
        ({ notices }) => notices,
        () => [],
      )
    },
    async close() {
      await records?.close()
      await ports?.close()
    },
  }
}

/** The same for a screen, which has a line of its own for it. */
function hearOnScreen(show: (line: string) => void, event: Told): void {
  if (event.event === 'output') show(printable(event.text.trimEnd().split('\n').at(-1) ?? ''))
  if (event.event === 'progress') show(progressText(event))
  if (event.event === 'finishing') show(`too late to cancel ${event.verb}: finishing`)
}

/** At a terminal one line; elsewhere only a checkout, which may take minutes, tells how far it is, a line for each report. */
function showProgress(status: StatusLine, progress: Extract<Told, { event: 'progress' }>): void {
  status.show(progressText(progress))
  if (progress.phase === 'making' && !process.stderr.isTTY)
    process.stderr.write(`${progressText(progress)}\n`)
}

async function show({ text: words, long }: Answer): Promise<void> {
  if (long && isTerminal()) {
    const { page } = await import('./pager.ts')
    if (await page(words, process.env)) return
  }
  say(words)
}

function say(words: string): 0 {
  write(`${words}\n`)
  return 0
}

function print(answer: object): void {
  write(`${JSON.stringify(answer)}\n`)
}

function complain(error: AppError, verbose: boolean, plain: boolean): void {
  const paint = painter(process.stderr.isTTY && !process.env.NO_COLOR && !plain)
  const lines = [`${paint('red', `error ${error.code}:`)} ${printable(error.message)}`]
  if (error.path !== undefined && !error.message.includes(error.path))
    lines.push(`  path: ${printable(error.path)}`)
  const { changed = [], ignored = [] } = (error.problem === 'uncommittedChanges' && error.data) || {}
  for (const [name, files] of Object.entries({ changed, ignored }))
    if (!verbose && files.length > 0) lines.push(`  ${name}: ${printable(shortList(files))}`)
  lines.push(`  hint: ${printable(error.hint)}`)
  for (const [name, value] of verbose ? Object.entries(error.data ?? {}) : []) {
    lines.push(`  ${name}: ${printable(JSON.stringify(value))}`)
  }
  if (verbose) lines.push(printableText((error.cause instanceof Error ? error.cause : error).stack ?? ''))
  process.stderr.write(`${lines.join('\n')}\n`)
}
