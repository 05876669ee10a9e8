/** Runs the `commit-msg` hook of the user's repository on the message of a landing. */
import path from 'node:path'
import { AppError } from '../model/errors.ts'
import type { Place } from '../model/repo.ts'
import type { Ports } from '../ports/index.ts'

/** The message as `commit-msg` leaves it; throws when the hook refuses it. */
export async function checkedMessage(
  ports: Ports,
  place: Place,
  message: string,
  signal?: AbortSignal,
): Promise<string> {
  const file = path.join(ports.home, 'scratch', `message-${ports.ids.uid()}`)
  await ports.files.makeFolder(path.dirname(file), 0o700)
  await ports.files.write(file, `${message.trimEnd()}\n`, 0o600)
  try {
    const { ok, said } = await ports.git.runHook(place, { name: 'commit-msg', args: [file] }, signal)
    const left = (await ports.files.readText(file)) ?? ''
    if (ok && left.trim() !== '') return left
    const why = said.split('\n').at(-1) || (ok ? 'it left no message' : 'it did not say why')
    throw new AppError('policyRefused', `The hook commit-msg refused the message: ${why}`, {
      hint: 'Nothing was written. Give another one with -m, or land without --hooks.',
      data: { message, said },
    })
  } finally {
    await ports.files.remove(file)
  }
}
