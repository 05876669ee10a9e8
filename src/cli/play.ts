/** Plays one command line in a shell: parses it, calls the command, prints its answer. */
import path from 'node:path'
import type { Emit } from '../api/views.ts'
import { type AppError, appError } from '../core/model/errors.ts'
import type { Told } from '../protocol/events.ts'
import { cut, type Line, parse, readGlobals } from './arguments.ts'
import { type Answer, type Context, flag, type Place, type Terminal, text } from './command.ts'
import { commands } from './commands.ts'
import { painter, printable, printableText, progressText, shortList } from './output.ts'
import type { Outlet, Shell } from './shell.ts'
import { type StatusLine, statusLine } from './status-line.ts'

/** Runs one command line and answers its exit code. */
export async function play(argv: readonly string[], place: Place): Promise<number> {
  const line = cut(argv)
  try {
    return await run(line, place)
  } catch (thrown) {
    const error = appError(thrown)
    const globals = readGlobals(line)
    const { stdout, stderr, env } = place.shell
    if (flag(globals, 'json')) print(stdout, { ok: false, error: error.toJSON() })
    else complain(stderr, env, error, flag(globals, 'verbose'), flag(globals, 'no-color'))
    return error.exitCode
  }
}

async function run(line: Line, { home, shell, cancel, open }: Place): Promise<number> {
  const { signal } = cancel
  const { env, stdout, stderr } = shell
  const { command, values, positionals, rest } = parse(line)
  if (flag(values, 'version')) return say(stdout, (await import('./version.ts')).readVersion())
  if (flag(values, 'help')) {
    const { commandHelp, overview } = await import('./help.ts')
    return say(stdout, command ? commandHelp(command) : overview(commands))
  }
  const json = flag(values, 'json')
  const quiet = json || flag(values, 'quiet')
  const colored = stdout.isTerminal && !env.NO_COLOR && !flag(values, 'no-color')
  const named = text(values, 'directory')
  const status = statusLine(stderr, quiet)
  let terminal: Terminal = {}
  const tell = (line: string) => {
    if (terminal.tell) return terminal.tell(line)
    status.clear()
    if (!quiet) stderr.write(`${line}\n`)
  }
  const hear: Emit = (event) => {
    if (terminal.tell) return hearOnScreen(terminal.tell, event)
    // A hook may print what the agent wrote.
    if (event.event === 'output' && !quiet) {
      status.clear()
      stderr.write(printableText(event.text))
    }
    if (event.event === 'progress' && !quiet) showProgress(status, stderr, event)
    if (event.event === 'finishing') tell(`too late to cancel ${command?.name ?? event.verb}: finishing`)
  }
  const door = open(named, hear)
  const context: Context = {
    dir: named === undefined ? shell.cwd : path.resolve(shell.cwd, named),
    values,
    positionals,
    rest,
    shell,
    env,
    home,
    signal,
    paint: painter(colored),
    colored,
    emit: (line) => print(stdout, line),
    hear,
    tell,
    follow: door.follow,
    openServer: door.openServer,
    play,
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
    if (json) print(stdout, { ok: true, ...answer.json, ...(notices.length > 0 && { notices }) })
    else if (answer.text !== '') await show(shell, answer)
    return answer.exitCode ?? 0
  } catch (error) {
    status.clear()
    if (!json) await takeNotices()
    throw error
  } finally {
    await door.close()
  }
}

/** The same for a screen, which has a line of its own for it. */
function hearOnScreen(show: (line: string) => void, event: Told): void {
  if (event.event === 'output') show(printable(event.text.trimEnd().split('\n').at(-1) ?? ''))
  if (event.event === 'progress') show(progressText(event))
  if (event.event === 'finishing') show(`too late to cancel ${event.verb}: finishing`)
}

/** At a terminal one line; elsewhere only a checkout, which may take minutes, tells how far it is, a line for each report. */
function showProgress(
  status: StatusLine,
  stderr: Outlet,
  progress: Extract<Told, { event: 'progress' }>,
): void {
  status.show(progressText(progress))
  if (progress.phase === 'making' && !stderr.isTerminal) stderr.write(`${progressText(progress)}\n`)
}

async function show({ stdout, env }: Shell, { text: words, long }: Answer): Promise<void> {
  if (long && stdout.isTerminal) {
    const { page } = await import('./pager.ts')
    if (await page(words, env)) return
  }
  say(stdout, words)
}

function say(stdout: Outlet, words: string): 0 {
  stdout.write(`${words}\n`)
  return 0
}

function print(stdout: Outlet, answer: object): void {
  stdout.write(`${JSON.stringify(answer)}\n`)
}

function complain(
  stderr: Outlet,
  env: NodeJS.ProcessEnv,
  error: AppError,
  verbose: boolean,
  plain: boolean,
): void {
  const paint = painter(stderr.isTerminal && !env.NO_COLOR && !plain)
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
  stderr.write(`${lines.join('\n')}\n`)
}
