/** Everything of a user's checkout that an undo must bring back, byte for byte. */
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import path from 'node:path'
import type { TestRepo } from './repo.ts'

export interface CheckoutState {
  /** Path → kind, mode and content of every file, tracked or not. */
  readonly files: Record<string, string>
  /** The index as git tells it: what is staged. */
  readonly index: string
  readonly head: string
  readonly refs: string
}

export function checkoutState(repo: TestRepo): CheckoutState {
  const files: Record<string, string> = {}
  const walk = (folder: string) => {
    for (const name of readdirSync(path.join(repo.dir, folder)).sort()) {
      const file = path.join(folder, name)
      if (name === '.git') continue
      const full = path.join(repo.dir, file)
      const stat = lstatSync(full)
      if (stat.isDirectory()) walk(file)
      else if (stat.isSymbolicLink()) files[file] = `link ${readlinkSync(full)}`
      else if (!stat.isFile()) files[file] = 'special'
      else
        files[file] =
          `${(stat.mode & 0o777).toString(8)} ${createHash('sha1').update(readFileSync(full)).digest('hex')}`
    }
  }
  walk('')
  const refs = repo.git('for-each-ref', '--format=%(refname) %(objectname)')
  return {
    files,
    index: repo.git('ls-files', '--stage'),
    head: readFileSync(path.join(repo.dir, '.git', 'HEAD'), 'utf8'),
    refs: refs.replace(/^refs\/(offshoot|heads\/offshoot)\/.*\n/gm, ''),
  }
}
