/**
 * A slot: `files` becomes a workspace, `git` becomes its registration. Until the hand-over nothing of it is in the
 * user's repository, so that git neither lists nor prunes it (docs/adr/0022-workspaces-made-ahead.md).
 */
import { lstat } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { allEnded } from '../core/base/concurrency.ts'
import { AppError } from '../core/model/errors.ts'
import type { FileSystem } from '../core/ports/files.ts'
import type { Slots } from '../core/ports/isolation.ts'
import type { GitExec } from '../git/exec.ts'
import { fillSettings } from './fill.ts'
import { inheritSparseness, pointer, register } from './worktree.ts'

export function gitSlots(exec: GitExec, files: FileSystem): Slots {
  return {
    async fill(repo, slot, commit, signal) {
      const git = gitOf(slot)
      for (const folder of [git, filesOf(slot)]) await files.makeFolder(folder)
      await files.write(path.join(git, 'commondir'), `${repo.commonDir}\n`)
      await files.write(path.join(git, 'HEAD'), `${commit}\n`)
      await inheritSparseness(files, repo.place, git)
      await exec({ args: ['read-tree', '--reset', '-u', commit], ...scopeOf(slot), signal })
      await waitForNextSecond(path.join(git, 'index'))
      await exec({ args: ['update-index', '-q', '--refresh'], expect: [1], ...scopeOf(slot), signal })
    },

    async readLook(slot) {
      const [names, index, kept] = await allEnded([
        files.readNames(filesOf(slot)),
        lookOf(path.join(gitOf(slot), 'index')),
        lookOf(path.join(slot, 'task', 'index')),
      ])
      const looks = await allEnded(
        names.sort().map(async (name) => `${name} ${await lookOf(path.join(filesOf(slot), name))}`),
      )
      return [index, kept, ...looks].join('\n')
    },

    async advance(repo, slot, from, to, signal) {
      const attributes = ['.gitattributes', ':(glob)**/.gitattributes']
      const asked = await exec({
        args: ['diff-tree', '-r', '--name-only', from, to, '--', ...attributes],
        gitDir: repo.commonDir,
        cwd: repo.commonDir,
        globs: true,
        expect: [128],
        signal,
      })
      // With other attributes, git may have to rewrite files that are the same in both commits.
      if (asked.code !== 0 || asked.stdout.length > 0) return false
      const { code } = await exec({
        args: ['read-tree', '-m', '-u', from, to],
        expect: [128],
        ...scopeOf(slot),
        settings: [...fillSettings, ...copySettings],
        signal,
      })
      return code === 0
    },

    async handOver(repo, task, slot) {
      if ((await files.readKind(task.path)) !== undefined) {
        throw new AppError('pathExists', `Something is there already: ${task.path}.`, { path: task.path })
      }
      await files.write(path.join(filesOf(slot), '.git'), pointer(repo, task))
      await files.rename(filesOf(slot), task.path)
      await register(files, repo, task, gitOf(slot))
    },
  }
}

/** Lets git accept a state folder that was copied with its times: ctime and inode differ there. */
const copySettings = [
  ['core.trustctime', 'false'],
  ['core.checkStat', 'minimal'],
] as const

function gitOf(slot: string): string {
  return path.join(slot, 'git')
}

function filesOf(slot: string): string {
  return path.join(slot, 'files')
}

/** The user's own conversions apply. */
function scopeOf(slot: string) {
  const workTree = filesOf(slot)
  return { gitDir: gitOf(slot), workTree, cwd: workTree, config: 'user', settings: fillSettings } as const
}

/** Waits for the next second: an index of the same second as its files makes git read them all again. */
async function waitForNextSecond(index: string): Promise<void> {
  const { mtimeMs } = await lstat(index)
  await pause(Math.max(0, Math.floor(mtimeMs / 1000) * 1000 + 1000 - Date.now()))
}

/** Mode, size and time. A copy that keeps the times has the same. */
async function lookOf(file: string): Promise<string> {
  const found = await lstat(file, { bigint: true }).catch(() => undefined)
  return found ? `${found.mode} ${found.isDirectory() ? 0 : found.size} ${found.mtimeNs}` : 'none'
}
