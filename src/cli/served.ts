/** Plays in the daemon the lines that the `offshoot` command hands to it, as the command itself would. */
import { openDoor } from '../api/call.ts'
import { callerOf } from '../api/caller.ts'
import type { Emit } from '../api/views.ts'
import { type Asked, comparedVariables, isLooking, isServed, type Screen } from '../client/served.ts'
import { AppError } from '../core/model/errors.ts'
import type { Ports } from '../core/ports/index.ts'
import type { FindPlay, Talk } from '../daemon/lines.ts'
import type { Doors, Play } from './command.ts'
import type { Outlet, Shell } from './shell.ts'

export function playerOn(play: Play, ports: Ports, env: NodeJS.ProcessEnv, version: string): FindPlay {
  return async (asked) => {
    const isOurs = isServed(asked.argv, {}) && asked.version === version && isAlike(asked.env, env)
    if (!isOurs || (!isLooking(asked.argv) && (await hasHooks(ports, asked.cwd)))) return undefined
    return (talk, signal) =>
      play(asked.argv, {
        home: ports.home,
        shell: shellOf(asked, talk, env),
        cancel: { signal, onInterrupt: undefined },
        open: (_, said) => doorsOf(ports, signal, said),
      })
  }
}

function isAlike(theirs: Asked['env'], ours: NodeJS.ProcessEnv): boolean {
  return comparedVariables.every((name) => theirs[name] === ours[name])
}

/** Hooks run with the user's environment, which stays with the command. Where that cannot be told, the command says why. */
async function hasHooks(ports: Ports, cwd: string): Promise<boolean> {
  try {
    const { checkout } = await ports.locate(cwd)
    const { hooks } = await ports.settings.read(checkout)
    return Object.values(hooks).some((hook) => typeof hook === 'string' && hook !== '')
  } catch {
    return true
  }
}

function shellOf({ cwd, env, stdout, stderr, canAsk }: Asked, talk: Talk, ours: NodeJS.ProcessEnv): Shell {
  const outlet = ({ isTerminal, columns, rows }: Screen, write: (text: string) => void): Outlet => ({
    isTerminal,
    columns,
    rows,
    write,
  })
  return {
    cwd,
    env: { ...ours, NO_COLOR: env.NO_COLOR },
    stdout: outlet(stdout, (out) => talk.send({ out })),
    stderr: outlet(stderr, (err) => talk.send({ err })),
    async ask(question, signal) {
      if (!canAsk) return undefined
      const cancelled = new Promise<never>((_, reject) => {
        const fail = () => reject(new AppError('cancelled', 'Cancelled.'))
        if (signal.aborted) fail()
        else signal.addEventListener('abort', fail, { once: true })
      })
      return Promise.race([talk.ask(question), cancelled])
    },
  }
}

/** The ports of the daemon, for the user: an agent's command is never handed over. */
function doorsOf(ports: Ports, signal: AbortSignal, said: Emit): Doors {
  const door = openDoor(ports, () => callerOf(undefined, false))
  const call: Doors['call'] = (action, input, emit, also) =>
    door(action, input, also ? AbortSignal.any([signal, also]) : signal, emit ?? said)
  const alone = () => {
    throw new AppError('failed', 'The daemon plays no such line.')
  }
  return {
    call,
    follow: alone,
    openServer: alone,
    notices: (dir) =>
      call('system.notices', { repo: dir }).then(
        ({ notices }) => notices,
        () => [],
      ),
    close: async () => {},
  }
}
