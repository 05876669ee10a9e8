/** No sandbox: commands run on this machine as the user, and see every file where it is. */
import { mkdtemp, rm } from 'node:fs/promises'
import path from 'node:path'
import { AppError } from '../core/model/errors.ts'
import type { Machine, Sandbox } from './sandbox.ts'

export const none: Sandbox = {
  kind: 'none',
  async open(machine, { workspace, env: own, runFolder }) {
    const folders: string[] = []
    const running = new Set<Promise<unknown>>()
    let over = new AbortController()
    const makeTempFolder = async () => {
      const folder = await mkdtemp(path.join(machine.temp, 'offshoot-'))
      folders.push(folder)
      return folder
    }
    const makeRunFolder = async () => {
      if (runFolder === undefined) return makeTempFolder()
      await machine.files.makeFolder(runFolder, 0o700)
      return runFolder
    }
    const end = async () => {
      over.abort(new AppError('cancelled', 'The cell was closed.'))
      await Promise.allSettled(running)
    }
    return {
      workspace,
      home: machine.home,
      node: process.execPath,
      inside: (file) => file,
      makeRunFolder,
      // Agents may write to the folder for temporary files, and cleaners delete from it.
      makeSocketFolder: async () =>
        isShort(runFolder) ? mkdtemp(path.join(await makeRunFolder(), 's')) : makeTempFolder(),
      async run({ env, ...call }, signal) {
        const ended = machine.commands.run(
          { ...call, cwd: workspace, env: { ...env, ...own } },
          signal ? AbortSignal.any([signal, over.signal]) : over.signal,
        )
        running.add(ended)
        const answer = ended.finally(() => running.delete(ended))
        // An agent that does not wait for its program must not crash us when the cell is closed.
        answer.catch(() => {})
        return answer
      },
      async end() {
        await end()
        over = new AbortController()
      },
      async close() {
        await end()
        await removeRunFolder(machine, runFolder)
        for (const folder of folders) await rm(folder, { recursive: true, force: true })
      },
    }
  },
}

async function removeRunFolder({ files }: Machine, folder: string | undefined): Promise<void> {
  if (folder !== undefined && (await files.readKind(folder)) !== undefined) await files.remove(folder)
}

/** With the two names that follow, the path of a socket stays below 100 bytes; systems allow 104 or 108. */
const longestFolder = 88

function isShort(folder: string | undefined): boolean {
  return folder !== undefined && Buffer.byteLength(folder) <= longestFolder
}
