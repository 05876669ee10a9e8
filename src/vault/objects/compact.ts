/** Makes a vault smaller without losing any object that a task or an operation reaches. */
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
  // A step under way has no ref yet: its new objects, and those that it found and relies on, are younger than this.
  const expired = `${Math.ceil((2 * freshMs) / 1000)}.seconds.ago`
  // The user's objects are visible and packed along: a packed step must not depend on the user's repository.
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
    // A task without a step may still need objects of the user's repository. If that is gone, git refuses to pack an
    // incomplete history. The refs of expired tasks are deleted all the same, and a later compact packs the rest.
    if (lends || appError(thrown).problem !== 'failed') throw thrown
  })
  await files.sync([path.join(gitDir, 'objects', 'pack'), path.join(gitDir, 'objects')])
  for (const uid of gone.tasks) vault.overlays.delete(uid)
}
