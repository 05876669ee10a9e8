/** Finding the repository of a folder, as git finds it. */
import { chownSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { tempFolder, type TestRepo, testRepo } from '../../test/support/repo.ts'
import { type GitExec, gitExec } from './exec.ts'
import { locate } from './locate.ts'

const unused: GitExec = (call) => {
  throw new Error(`git ${call.args.join(' ')} was spawned`)
}
const find = (dir: string) => locate({ exec: async () => unused }, dir)

/** A linked worktree of the user's beside the repository. */
function linked(repo: TestRepo): string {
  const folder = path.join(repo.home, 'linked')
  repo.git('worktree', 'add', '--quiet', '-b', 'topic', folder)
  return folder
}

describe('locate', () => {
  test('L9: a checkout is found from its root, a subfolder, a file, its git folder and through a symlink', async () => {
    const repo = testRepo({ 'deep/er/a.txt': 'one\n' })
    const gitDir = path.join(repo.dir, '.git')
    const place = { commonDir: gitDir, gitDir, checkout: repo.dir }
    symlinkSync(path.join(repo.dir, 'deep'), path.join(repo.home, 'link'))
    for (const dir of ['', 'deep', 'deep/er', 'deep/er/a.txt', '.git', '.git/objects', '../link/er']) {
      expect({ dir, place: await find(path.join(repo.dir, dir)) }).toEqual({ dir, place })
    }
  })

  test('L9: a linked worktree has its own git folder and shares the other', async () => {
    const repo = testRepo()
    const folder = linked(repo)
    expect(await find(folder)).toEqual({
      commonDir: path.join(repo.dir, '.git'),
      gitDir: path.join(repo.dir, '.git/worktrees/linked'),
      checkout: folder,
    })
  })

  test('L9: the pointer of a worktree may be relative', async () => {
    const repo = testRepo()
    const folder = linked(repo)
    writeFileSync(path.join(folder, '.git'), 'gitdir: ../repo/.git/worktrees/linked\n')
    expect(await find(folder)).toMatchObject({ gitDir: path.join(repo.dir, '.git/worktrees/linked') })
  })

  test('L9: a worktree that was moved is found where it is now', async () => {
    const repo = testRepo()
    const moved = path.join(repo.home, 'moved')
    renameSync(linked(repo), moved)
    expect(await find(moved)).toMatchObject({ checkout: moved, commonDir: path.join(repo.dir, '.git') })
  })

  test('R7: a worktree whose repository was moved says what to do', async () => {
    const repo = testRepo()
    const folder = linked(repo)
    renameSync(repo.dir, path.join(repo.home, 'elsewhere'))
    await expect(find(folder)).rejects.toMatchObject({
      code: 'WT_009',
      path: path.join(folder, '.git'),
      hint: expect.stringContaining('git worktree repair'),
    })
  })

  test('L10: a bare repository, from its folder and from below', async () => {
    const repo = testRepo()
    const bare = path.join(repo.home, 'bare.git')
    repo.git('clone', '--quiet', '--bare', repo.dir, bare)
    const place = { commonDir: bare, gitDir: bare, checkout: null }
    expect(await find(bare)).toEqual(place)
    expect(await find(path.join(bare, 'objects'))).toEqual(place)
  })

  test('L10: a bare repository below an empty .git, which a sandbox left there', async () => {
    const repo = testRepo()
    const bare = path.join(repo.home, 'bare.git')
    repo.git('clone', '--quiet', '--bare', repo.dir, bare)
    mkdirSync(path.join(repo.home, '.git'))
    expect(await find(bare)).toEqual({ commonDir: bare, gitDir: bare, checkout: null })
    writeFileSync(path.join(repo.home, '.git', 'HEAD'), 'ref: refs/heads/main\n')
    await expect(find(bare)).rejects.toMatchObject({ problem: 'notARepository' })
  })
  test('L10: a bare repository called .git', async () => {
    const repo = testRepo()
    const bare = path.join(repo.home, 'project/.git')
    repo.git('clone', '--quiet', '--bare', repo.dir, bare)
    expect(await find(bare)).toMatchObject({ commonDir: bare })
  })

  test('L10: a submodule is found before the repository around it', async () => {
    const inner = testRepo()
    const outer = testRepo()
    outer.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.dir, 'lib')
    const gitDir = path.join(outer.dir, '.git/modules/lib')
    const checkout = path.join(outer.dir, 'lib')
    expect(await find(checkout)).toEqual({ commonDir: gitDir, gitDir, checkout })
  })

  test('L9: a folder called .git that is no repository is passed over, as git does', async () => {
    const repo = testRepo()
    mkdirSync(path.join(repo.dir, 'sub/.git'), { recursive: true })
    expect(await find(path.join(repo.dir, 'sub'))).toMatchObject({ checkout: repo.dir })
  })

  test.each([
    ['nothing', ''],
    ['nonsense', 'nonsense\n'],
    ['no path', 'gitdir: \n'],
    ['a path to nothing', 'gitdir: /nowhere/at/all\n'],
  ])('L9: a .git file with %s in it is damaged, not absent', async (_, content) => {
    const repo = testRepo()
    repo.write('sub/.git', content)
    await expect(find(path.join(repo.dir, 'sub'))).rejects.toMatchObject({ code: 'WT_009' })
  })

  test('L9: no repository, and no folder', async () => {
    const folder = tempFolder()
    await expect(find(folder)).rejects.toMatchObject({ code: 'WT_009', path: folder })
    await expect(find(path.join(folder, 'none'))).rejects.toMatchObject({ code: 'WT_005' })
  })

  const root = process.getuid?.() === 0
  test.skipIf(!root)(
    'S1: a repository of another user is refused, unless git was told to trust it',
    async () => {
      const repo = testRepo()
      for (const part of ['', '.git']) chownSync(path.join(repo.dir, part), 12_345, 12_345)
      const exec = gitExec({ env: repo.env, recordChild: () => () => {} })
      await expect(locate({ exec: async () => exec }, repo.dir)).rejects.toMatchObject({
        code: 'WT_009',
        hint: expect.stringContaining('safe.directory'),
      })
      // Only the user's own config and the system's can say so.
      writeFileSync(path.join(repo.dir, '.git/config'), '[safe]\n\tdirectory = *\n')
      await expect(locate({ exec: async () => exec }, repo.dir)).rejects.toMatchObject({ code: 'WT_009' })
      writeFileSync(path.join(repo.home, '.gitconfig'), `[safe]\n\tdirectory = ${repo.dir}\n`)
      expect(await locate({ exec: async () => exec }, repo.dir)).toMatchObject({ checkout: repo.dir })
      rmSync(path.join(repo.home, '.gitconfig'))
    },
  )
})
