import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import path from 'node:path'
import type { TestRepo } from './repo.ts'

export type Fingerprint = Record<string, string>

/**
 * All that is the user's, as one flat object that a test can compare: the files of the checkout with their modes, the
 * index, HEAD and whatever else lies at the top of the git folder, config, hooks, info, the stash, the refs and what
 * `git status` says. Left out is what offshoot may make: its own refs, worktrees, logs and objects.
 */
export function fingerprint(repo: TestRepo, except: readonly string[] = []): Fingerprint {
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: repo.dir,
      env: { ...repo.env, GIT_OPTIONAL_LOCKS: '0' },
      stdio: ['ignore', 'pipe', 'ignore'],
      encoding: 'utf8',
    })
  const gitDir = git('rev-parse', '--absolute-git-dir').trim()
  const bare = git('rev-parse', '--is-bare-repository').trim() === 'true'
  const found: Fingerprint = { ...userRefs(git) }
  if (!bare) {
    found.status = git('status', '--porcelain=v2', '--branch', '--show-stash', '--untracked-files=all')
    addFiles(found, repo.dir, 'checkout', ['.git', ...except])
  }
  addFiles(found, gitDir, 'git', ['worktrees', 'objects', 'refs', 'logs', 'packed-refs', 'gc.log', 'modules'])
  addFile(found, path.join(gitDir, 'logs/refs/stash'), 'git/logs/refs/stash')
  return found
}

function userRefs(git: (...args: string[]) => string): Fingerprint {
  const refs = git('for-each-ref', '--format=%(refname) %(objectname) %(symref)')
    .split('\n')
    .filter((line) => line !== '' && !/^refs\/(heads\/)?offshoot\//.test(line))
  return Object.fromEntries(refs.map((line) => [line.split(' ')[0], line]))
}

function addFiles(found: Fingerprint, folder: string, name: string, except: readonly string[]): void {
  for (const entry of readdirSync(folder).toSorted()) {
    if (except.includes(entry)) continue
    const file = path.join(folder, entry)
    if (lstatSync(file).isDirectory()) {
      found[`${name}/${entry}/`] = 'folder'
      addFiles(found, file, `${name}/${entry}`, [])
    } else addFile(found, file, `${name}/${entry}`)
  }
}

function addFile(found: Fingerprint, file: string, name: string): void {
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (!stat) return
  const content = stat.isSymbolicLink() ? readlinkSync(file) : stat.isFile() ? readFileSync(file) : ''
  found[name] = `${stat.mode.toString(8)} ${createHash('sha256').update(content).digest('hex')}`
}
