/**
 * Git opens every .gitignore and .gitattributes that it meets, and blocks for ever if one is a pipe. Opening the pipe
 * for writing and closing it at once lets git go on: it reads an empty file.
 */
import { constants } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { below, type BytePath, fromBytes } from '../../core/model/bytes.ts'

/** After this time we look for pipes, then ever less often: nearly always there are none, and git is still working. */
const patience = 1_000

export async function withoutWaiting<T>(workspace: string, work: Promise<T>): Promise<T> {
  const ended = work.then(
    () => true,
    () => true,
  )
  for (let wait = patience; ; wait *= 2) {
    // The pause must not keep our process from ending.
    if (await Promise.race([ended, pause(wait, false, { ref: false })])) return work
    await letReadersGo(workspace, '')
  }
}

async function letReadersGo(workspace: string, folder: BytePath): Promise<void> {
  const at = below(workspace, folder)
  const entries = await readdir(at, { withFileTypes: true, encoding: 'buffer' }).catch(() => [])
  for (const entry of entries) {
    const name = fromBytes(entry.name)
    if (entry.isDirectory() && name !== '.git') await letReadersGo(workspace, `${folder}${name}/`)
    else if (entry.isFIFO() && (name === '.gitignore' || name === '.gitattributes')) {
      const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW
      // Opening fails if nobody reads the pipe, and then nobody is blocked.
      const pipe = await open(below(workspace, folder + name), flags).catch(() => undefined)
      await pipe?.close()
    }
  }
}
