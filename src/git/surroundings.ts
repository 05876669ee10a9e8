/** The refs, config and hooks of a repository, read before and after a run to find strays. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Place } from '../core/model/repo.ts'
import type { GitExec } from './exec.ts'

/**
 * The parts of a repository that an agent should leave alone: every ref with its value, or the name that a symbolic ref
 * points to, and a hash of each config file and hook.
 */
export async function readSurroundings(exec: GitExec, { commonDir }: Place): Promise<Map<string, string>> {
  const { stdout } = await exec({
    args: [
      'for-each-ref',
      '--format=%(refname) %(if)%(symref)%(then)ref: %(symref)%(else)%(objectname)%(end)',
    ],
    gitDir: commonDir,
    cwd: commonDir,
  })
  const refs = stdout
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((line): [string, string] => {
      const space = line.indexOf(' ')
      return [line.slice(0, space), line.slice(space + 1)]
    })
  const hooks = await readdir(path.join(commonDir, 'hooks')).catch(() => [])
  const names = ['config', 'info/attributes', 'info/exclude', ...hooks.map((name) => `hooks/${name}`)]
  const files = await Promise.all(names.map(async (name) => [name, await readHash(commonDir, name)] as const))
  return new Map([...refs, ...files.filter((file): file is [string, string] => file[1] !== undefined)])
}

async function readHash(folder: string, name: string): Promise<string | undefined> {
  const content = await readFile(path.join(folder, name)).catch(() => undefined)
  return content && createHash('sha256').update(content).digest('hex')
}
