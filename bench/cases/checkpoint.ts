/** A step of one changed file, against `git add -A` and `git commit`. */
import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { library } from '../built.ts'
import type { TimedCase } from '../case.ts'
import { newName } from '../folders.ts'
import { type BenchRepo, fileName } from '../repos.ts'
import { run } from '../spawn.ts'

/** `named`: the tool names the file it wrote, as an edit tool does. `found`: offshoot searches the whole workspace. */
export function checkpoint(files: number, how: 'named' | 'found', bar?: number): TimedCase {
  return {
    kind: 'timed',
    name: `checkpoint (${how}) : add -A, commit`,
    files,
    ...(bar === undefined ? {} : { bar }),
    async prepare(repos) {
      const repo = await repos.repo(files)
      const ours = await taskIn(repo)
      const raw = await rawWorktree(repo)
      const changed = fileName(Math.floor(files / 2))
      return {
        ours: {
          before: () => edit(ours.path, changed),
          run: () => ours.step(how === 'named' ? [changed] : undefined),
        },
        raw: { before: () => edit(raw.path, changed), run: raw.commit },
        close: ours.close,
      }
    },
  }
}

/** Step 10,000 of a task, against step 1 of another. */
export function manySteps(steps: number, bar: number): TimedCase {
  return {
    kind: 'timed',
    name: `step ${steps} : step 1`,
    files: 52,
    bar,
    async prepare(repos) {
      const repo = await repos.repo(52)
      const [long, short] = [await taskIn(repo), await taskIn(repo)]
      const names = [fileName(7), fileName(8)]
      for (let n = 0; n < steps; n++) {
        const name = names[n % 2] ?? ''
        await rewrite(long.path, name)
        await long.step([name])
      }
      const side = (task: typeof long) => ({
        before: () => rewrite(task.path, fileName(7)),
        run: () => task.step([fileName(7)]),
      })
      return {
        ours: side(long),
        raw: side(short),
        close: async () => {
          await long.close()
          await short.close()
        },
      }
    },
  }
}

function edit(folder: string, file: string): Promise<void> {
  return appendFile(path.join(folder, file), `${newName('edit')}\n`)
}

/** Replaces the file: a file that grew with every step would distort the times. */
function rewrite(folder: string, file: string): Promise<void> {
  return writeFile(path.join(folder, file), `${newName('edit')}\n`.repeat(100))
}

/** Not published, as during a run. */
async function taskIn(repo: BenchRepo) {
  const { openRepo } = await library()
  const env = { ...repo.env, OFFSHOOT_CHECKPOINTS_PUBLISH: 'never', OFFSHOOT_LIMITS_PER_REPO: '1000' }
  const handle = openRepo(repo.dir, { env })
  const { task } = await handle.start({ task: newName('task') })
  const step = (files?: string[]) => handle.checkpoint({ task: task.id, tool: 'Edit', files })
  await edit(task.path, fileName(0))
  await step()
  const close = async () => {
    await handle.remove({ task: task.id, force: true })
    await handle.close()
  }
  return { path: task.path, step, close }
}

async function rawWorktree(repo: BenchRepo) {
  const name = newName('raw')
  const folder = path.join(path.dirname(repo.dir), 'raw')
  await mkdir(folder, { recursive: true })
  await run('git', ['worktree', 'add', '-b', `raw/${name}`, path.join(folder, name)], {
    cwd: repo.dir,
    env: repo.env,
  })
  const identity = {
    GIT_AUTHOR_NAME: 'U',
    GIT_AUTHOR_EMAIL: 'u@x',
    GIT_COMMITTER_NAME: 'U',
    GIT_COMMITTER_EMAIL: 'u@x',
  }
  const at = { cwd: path.join(folder, name), env: { ...repo.env, ...identity } }
  const commit = async () => {
    await run('git', ['add', '-A'], at)
    await run('git', ['diff', '--cached', '--quiet'], at).catch(() => '')
    await run('git', ['commit', '--quiet', '--message=step'], at)
    await run('git', ['rev-parse', 'HEAD'], at)
  }
  await edit(at.cwd, fileName(0))
  await commit()
  return { path: at.cwd, commit }
}
