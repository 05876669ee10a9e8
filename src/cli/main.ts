/** The entry of the command line: runs the line of this process, with ports of its own (docs/adr/0016-records-apart-and-one-bundle.md). */
import { openDoor, openLook } from '../api/call.ts'
import { type Caller, callerOf } from '../api/caller.ts'
import { isRecordAction } from '../api/handlers/records.ts'
import type { Emit } from '../api/views.ts'
import type { Composed } from '../compose/full.ts'
import { composeRecords, findRun, type OpenRecords } from '../compose/records.ts'
import { stateFolder } from '../compose/state-folder.ts'
import { AppError } from '../core/model/errors.ts'
import { type Listen, onSignals } from './cancel.ts'
import type { Context, Doors } from './command.ts'
import { play } from './play.ts'
import { ownShell } from './shell.ts'

/** Runs one command line and answers its exit code. */
export async function main(argv: readonly string[], listen?: Listen): Promise<number> {
  const { signal, abort } = cancellation()
  const open = (named: string | undefined, said: Emit) => openDoors(signal, named, said)
  const cancel = Object.assign(onSignals(listen, abort), { signal })
  return play(argv, { home: stateFolder(process.env), shell: ownShell, cancel, open })
}

function cancellation() {
  const controller = new AbortController()
  const abort = () => controller.abort(new AppError('cancelled', 'Cancelled.'))
  return { signal: controller.signal, abort }
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
