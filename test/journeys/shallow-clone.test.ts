import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { testRepo } from '../support/repo.ts'
import { commitFile, inFolder, library } from '../support/workspace.ts'

/** A clone of a repository with two commits that has only the last. */
function shallowClone() {
  const origin = testRepo()
  origin.git('config', '--global', 'user.name', 'User')
  origin.git('config', '--global', 'user.email', 'user@example.com')
  commitFile(origin, 'b.txt', 'two\n')
  const user = inFolder(origin, path.join(origin.home, 'shallow'))
  execFileSync('git', ['clone', '-q', '--depth=1', `file://${origin.dir}`, user.dir], { env: origin.env })
  return user
}

test.each(['worktree', 'clone'] as const)(
  'L10: steps of a %s follow its base also where history is cut off: nothing is joined that was never apart',
  async (isolation) => {
    const user = shallowClone()
    const repo = library(user)
    const { task } = await repo.start({ task: 'T1', isolation })
    for (const name of ['c.txt', 'd.txt']) {
      writeFileSync(path.join(task.path, name), `${name}\n`)
      await repo.checkpoint({ task: 'T1', tool: 'Write', summary: name })
    }
    expect(user.git('log', '--format=%s', 'offshoot/T1')).toBe(
      'AI Tool: Write - d.txt\nAI Tool: Write - c.txt\nWrite b.txt\n',
    )
    user.git('fetch', '-q', '--unshallow')
    await repo.accept({ task: 'T1', as: 'merge' })
    expect(user.git('log', '--format=%s', '--first-parent')).toBe(
      'Merge the work of T1\nWrite b.txt\nFirst commit\n',
    )
  },
)
