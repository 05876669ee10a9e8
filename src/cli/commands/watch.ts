/** `watch`: shows all tasks live at a terminal; with --json, prints every event as it comes. */
import { AppError } from '../../core/model/errors.ts'
import { type Answer, type Context, flag, text } from '../command.ts'
import { live, type Watched } from '../watch/live.ts'
import { canShow } from '../watch/screen.ts'

export async function watch(context: Context): Promise<Answer> {
  const since = sinceOf(context)
  const watched = flag(context.values, 'all-repos') ? allRepos(context) : oneRepo(context)
  if (flag(context.values, 'json')) return stream(context, watched, since)
  if (since !== undefined)
    throw wrong('--since needs --json', 'offshoot watch --json --since 0 prints all events.')
  if (!canShow(context.env))
    throw wrong('a terminal is needed', 'offshoot watch --json prints the events, offshoot list the tasks.')
  await live(context, watched)
  return { json: {}, text: '' }
}

function wrong(problem: string, hint: string): AppError {
  return new AppError('wrongUsage', `\`watch\`: ${problem}.`, { hint })
}

function sinceOf({ values }: Context): number | undefined {
  const given = text(values, 'since')
  if (given === undefined) return undefined
  if (/^\d{1,15}$/.test(given)) return Number(given)
  throw wrong(
    `--since takes the seq of an event, not ${JSON.stringify(given)}`,
    'Write it as --since 120; 0 is the beginning of the log.',
  )
}

function oneRepo({ dir, call }: Context): Watched {
  return { dir, read: () => call('task.list', { repo: dir }) }
}

/** The tasks of every repository that is there and has open ones. */
function allRepos({ call }: Context): Watched {
  return {
    dir: undefined,
    async read() {
      const { repos } = await call('system.repos', {})
      const there = repos.filter(({ exists, openTasks }) => exists && openTasks > 0)
      const listed = await Promise.all(there.map((repo) => call('task.list', { repo: repo.path })))
      // They were read one after the other: what happened meanwhile is followed from the first on.
      const [seq] = listed.map((answer) => answer.seq).toSorted((one, other) => one - other)
      return { tasks: listed.flatMap(({ tasks }) => tasks), seq }
    },
  }
}

/** Prints events until the command is cancelled, which is its usual end; `seq` is where the next one goes on. */
async function stream(context: Context, { dir, read }: Watched, since: number | undefined): Promise<Answer> {
  // Outside of a repository it fails at once, and not with the first event.
  let { seq } = await read()
  seq = since ?? seq
  for await (const followed of context.follow({ dir, since: seq })) {
    context.emit(followed)
    seq = followed.seq
  }
  return { json: { seq }, text: '' }
}
