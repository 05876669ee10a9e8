/** Notifies the user, who may be elsewhere, that a run has ended or waits for an answer. */
import path from 'node:path'
import { counted } from '../base/counted.ts'
import { findChanged } from '../hooks/hooks.ts'
import type { NotifyWay } from '../model/enums.ts'
import { appError } from '../model/errors.ts'
import { redacted } from '../model/redact.ts'
import type { RepoRecord } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import type { Ports } from '../ports/index.ts'
import type { RunTold, ToldCall } from './attend.ts'

export interface Notifier {
  /** The agent waits for an answer; nobody waits until the user has heard of it. */
  asked(task: Task, call: ToldCall & { readonly reason: string }): void
  /** The run is over; undefined: it had no task, and went well or not. */
  ended(task: Pick<Task, NotifiedField> | undefined, reason: string): Promise<void>
}

type NotifiedField = 'id' | 'state' | 'checkpoints' | 'files' | 'insertions' | 'deletions'

export interface NotifyPlace {
  readonly how: readonly NotifyWay[]
  /** The user's own checkout, or the folder of a run without a task: the command runs there. */
  readonly checkout: string
  /** Whose own settings may have the command. */
  readonly repo: Pick<RepoRecord, 'id'> | undefined
}

interface Note {
  readonly about: 'asked' | 'ended'
  readonly task: string
  readonly state: string
  /** Words of ours alone, because others can read the arguments of a program, and the program may read markup in them. */
  readonly title: string
  /** May hold words of the agent: only the environment of the command has it. */
  readonly message: string
}

/** Answers why the user could not be notified that way; undefined when they were. */
type Way = (note: Note) => Promise<string | undefined>

/** Reads the command now, before the agent can change where it is set. */
export async function openNotifier(
  ports: Ports,
  place: NotifyPlace,
  tell: (event: RunTold) => void,
): Promise<Notifier> {
  const ways: Readonly<Record<NotifyWay, Way>> = {
    // Only a door knows whether it has a terminal.
    bell: async () => undefined,
    desktop: (note) => onDesktop(ports, note),
    command: place.how.includes('command') ? await commandWay(ports, place) : async () => undefined,
  }
  const told = new Set<NotifyWay>()
  const notify = async (note: Note) => {
    const sending = place.how.map(async (how) => {
      const reason = await ways[how](note).catch((thrown: unknown) => appError(thrown).message)
      if (reason === undefined) return tell({ event: 'notified', about: note.about, how })
      // The same program is missing each time.
      if (!told.has(how)) tell({ event: 'notified', about: note.about, how, reason })
      told.add(how)
    })
    await Promise.all(sending)
  }
  return {
    asked: (task, call) => ports.later(() => notify(askedNote(task, call))),
    ended: (task, reason) => notify(endedNote(task, reason)),
  }
}

function askedNote({ id, state }: Task, { tool, summary, reason }: Parameters<Notifier['asked']>[1]): Note {
  const message = inOneLine(`${id} asks: ${tool} ${summary} (${reason})`)
  return { about: 'asked', task: id, state, title: `${id} asks you something`, message }
}

function endedNote(task: Parameters<Notifier['ended']>[0], reason: string): Note {
  const { id = '', state = reason === '' ? 'completed' : 'failed' } = task ?? {}
  const title = `${task ? id : 'The run'} ${state}`
  const parts = [title, ...(task ? [doneIn(task)] : []), ...(reason === '' ? [] : [reason])]
  return { about: 'ended', task: id, state, title, message: inOneLine(parts.join(': ')) }
}

function doneIn({ checkpoints, files, insertions, deletions }: Pick<Task, NotifiedField>): string {
  return `${counted(checkpoints, 'step')}, ${counted(files, 'file')}, +${insertions} -${deletions}`
}

const longest = 500

/** Without secrets, and without what could move a cursor, hide text or end a line: a shell may print it. */
function inOneLine(text: string): string {
  return redacted(text.slice(0, 2 * longest))
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .slice(0, longest)
}

const script = ['on run argv', 'display notification (item 1 of argv) with title "offshoot"', 'end run']

/** Programs that show a message on the desktop: of Linux, and of macOS. */
const desktops: Readonly<Record<string, (title: string) => string[]>> = {
  'notify-send': (title) => ['--app-name=offshoot', '--', 'offshoot', title],
  osascript: (title) => [...script.flatMap((line) => ['-e', line]), title],
}

async function onDesktop(ports: Pick<Ports, 'commands' | 'userHome'>, { title }: Note) {
  for (const [name, args] of Object.entries(desktops)) {
    const program = ports.commands.findProgram(name)
    if (program !== undefined) return run(ports, [program, ...args(title)], ports.userHome, {})
  }
  return `no program that shows it was found: ${Object.keys(desktops).join(', ')}`
}

async function commandWay(ports: Ports, { checkout, repo }: NotifyPlace): Promise<Way> {
  const settings = await ports.settings.readWithOrigin(checkout)
  const { value, isForeign, waiting } = settings.find(({ key }) => key === 'notify.command') ?? {}
  const command = typeof value === 'string' ? value.trim() : ''
  return async ({ about, task, state, message }) => {
    if (command === '')
      return waiting === undefined
        ? 'notify.command is not set'
        : 'notify.command of this repository is not trusted: offshoot trust shows it, and asks'
    const changed = isForeign && repo ? await findChanged(ports, repo, [checkout], command) : undefined
    if (changed !== undefined) return `notify.command ${changed}`
    const env = {
      OFFSHOOT_TASK: task,
      OFFSHOOT_EVENT: about,
      OFFSHOOT_STATE: state,
      OFFSHOOT_MESSAGE: message,
    }
    return run(ports, ['/bin/sh', '-c', command], checkout, env)
  }
}

const longestSeconds = 30

async function run(
  { commands }: Pick<Ports, 'commands'>,
  argv: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const late = AbortSignal.timeout(longestSeconds * 1000)
  const call = { argv, cwd, env, onOutput: () => {}, onStart: (input: { end(): void }) => input.end() }
  const name = path.basename(argv[0] ?? '') === 'sh' ? 'notify.command' : path.basename(argv[0] ?? '')
  try {
    const code = await commands.run(call, late)
    return code === 0 ? undefined : `${name} ended with exit code ${code}`
  } catch (thrown) {
    if (!late.aborted) throw thrown
    return `${name} took longer than ${longestSeconds} s`
  }
}
