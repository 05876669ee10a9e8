import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Place } from '../core/model/repo.ts'
import type { GitExec } from './exec.ts'

/**
 * What an agent should leave alone in a repository: every ref with its value, one that names another with that name, and
 * a hash of each file of config and hooks.
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
