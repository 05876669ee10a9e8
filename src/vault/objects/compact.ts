/** Makes a vault smaller without losing anything that a task or an operation leads to. */
import path from 'node:path'
import { appError } from '../../core/model/errors.ts'
import type { Gone } from '../../core/model/operation.ts'
import { operationRef, taskRef } from '../../core/model/refs.ts'
import { taskFolder } from '../../core/model/layout.ts'
import type { OpenVault } from '../open.ts'
import { freshMs } from './objects.ts'

export async function compact(vault: OpenVault, gone: Gone, signal?: AbortSignal): Promise<void> {
  const { exec, files, vault: gitDir, alternates } = vault
  const common = { gitDir, cwd: gitDir, durable: true, signal } as const
  const refs = [...gone.tasks.map(taskRef), ...gone.operations.map(operationRef)]
  if (refs.length > 0)
    await exec({
      args: ['update-ref', '--stdin', '-z'],
      stdin: refs.map((ref) => `delete ${ref}\0\0`).join(''),
      ...common,
    })
  for (const uid of gone.tasks) await files.remove(taskFolder(gitDir, { uid }))
  // What a step under way has just written is not named yet, and what it found there it has counted on for less than that.
  const expired = `${Math.ceil((2 * freshMs) / 1000)}.seconds.ago`
  // With what the user's repository lends: a step must not come to depend on it by being packed.
  const pack = async () => {
    await exec({
      args: ['repack', '-A', '-d', '-q', `--unpack-unreachable=${expired}`],
      alternates,
      ...common,
    })
    await exec({ args: ['prune', `--expire=${expired}`], alternates, ...common })
  }
  const lends = (await files.readKind(vault.commonDir)) !== undefined
  await pack().catch((thrown: unknown) => {
    // What a task without a step was made of went with the repository; git packs nothing that is not whole. The names of
    // what is gone are gone, and with the last of such tasks it is packed.
    if (lends || appError(thrown).problem !== 'failed') throw thrown
  })
  await files.sync([path.join(gitDir, 'objects', 'pack'), path.join(gitDir, 'objects')])
}
