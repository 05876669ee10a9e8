import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ComposeOptions } from '../../src/compose/full.ts'
import { fingerprint } from '../support/fingerprint.ts'
import { type TestRepo, tempFolder, testRepo } from '../support/repo.ts'
import { branches, commitFile, inFolder, library, withEnv } from '../support/workspace.ts'

const branch = 'offshoot/T1'

async function started(repo = testRepo(), options: ComposeOptions = {}, existingBranch?: string) {
  const lib = library(repo, options)
  const { task } = await lib.start({ task: 'T1', existingBranch })
  const workspace = inFolder(repo, task.path)
  const edit = (name: string, content: string, summary = `Write ${name}`) => {
    workspace.write(name, content)
    return lib.checkpoint({ task: 'T1', tool: 'Write', summary })
  }
  return { repo, lib, task, workspace, edit }
}

const subjects = (repo: TestRepo, range = `main..${branch}`, ...options: string[]) =>
  repo
    .git('log', '--reverse', '--format=%s', ...options, range)
    .split('\n')
    .filter(Boolean)

const status = (workspace: TestRepo) => workspace.git('status', '--porcelain', '--untracked-files=all')

function expectSound(repo: TestRepo): void {
  expect(
    execFileSync('git', ['fsck', '--full', '--strict'], { cwd: repo.dir, env: repo.env }).toString(),
  ).toBe('')
}

describe('K1: one commit per step', () => {
  test('K1: named after tool and summary, with the call and the run as trailers', async () => {
    const { repo, lib, workspace } = await started()
    const before = fingerprint(repo)
    workspace.write('new.txt', 'one\n')
    await lib.checkpoint({ task: 'T1', tool: 'Write', summary: 'new.txt', call: 'call-7', run: 'run-3' })
    workspace.write('new.txt', 'two\n')
    await lib.checkpoint({ task: 'T1', tool: 'Edit', summary: 'new.txt, again' })
    expect(subjects(repo)).toEqual(['AI Tool: Write - new.txt', 'AI Tool: Edit - new.txt, again'])
    const trailers = repo.git('log', '-1', '--format=%(trailers:only,unfold)', `${branch}~1`)
    expect(trailers).toMatch(/^Offshoot-Step: 1$/m)
    expect(trailers).toMatch(/^Offshoot-Tool: Write$/m)
    expect(trailers).toMatch(/^Offshoot-Call: call-7$/m)
    expect(trailers).toMatch(/^Offshoot-Run: run-3$/m)
    expect(repo.git('diff', '--name-status', `${branch}~1`, branch)).toBe('M\tnew.txt\n')
    expectSound(repo)
    expect(fingerprint(repo)).toEqual(before)
  })

  test('K1: whatever a summary holds, the subject is one line and the step is found again', async () => {
    const { repo, lib, edit } = await started()
    const odd = ['two\nlines', 'line\u2028separator', 'nul\0in it', '\x1b[31mred', '🦉'.repeat(300), '']
    for (const [n, summary] of odd.entries()) await edit('a.txt', `${n}\n`, summary)
    expect((await lib.log('T1')).map((step) => step.summary)).toEqual(odd)
    expect((await lib.log('T1')).map((step) => step.n)).toEqual([1, 2, 3, 4, 5, 6])
    expect(subjects(repo)).toEqual([
      'AI Tool: Write - two lines',
      'AI Tool: Write - line separator',
      'AI Tool: Write - nul in it',
      'AI Tool: Write - [31mred',
      `AI Tool: Write - ${'🦉'.repeat(200)}`,
      'AI Tool: Write',
    ])
    expectSound(repo)
  })

  test('K6: log prints the ids that git show finds', async () => {
    const { repo, lib, edit } = await started()
    for (const n of [1, 2, 3]) await edit('a.txt', `${n}\n`)
    await lib.rewind({ task: 'T1', to: 1 })
    const steps = await lib.log('T1')
    expect(steps).toHaveLength(4)
    for (const { published = '', n } of steps) {
      const content = n === 4 ? '1\n' : `${n}\n`
      expect(repo.git('show', `${published}:a.txt`)).toBe(content)
      expect(repo.git('merge-base', '--is-ancestor', published, branch)).toBe('')
    }
  })

  test('K1: the totals of a task count from its start, also in a new process', async () => {
    const { repo, lib, edit } = await started()
    await edit('one.txt', '1\n')
    await edit('two.txt', '2\n')
    await lib.close()
    const again = library(repo)
    inFolder(repo, (await again.show('T1')).path).write('three.txt', '3\n')
    await again.checkpoint({ task: 'T1' })
    expect(await again.show('T1')).toMatchObject({ files: 3, insertions: 3, deletions: 0, checkpoints: 3 })
  })
})

describe('K5: the agent’s own commits', () => {
  test('K5: are kept and joined with the steps', async () => {
    const { repo, workspace, edit } = await started()
    await edit('a.txt', 'step\n')
    const own = commitFile(workspace, 'own.txt', 'by the agent\n')
    await edit('b.txt', 'step\n')
    expect(repo.git('merge-base', '--is-ancestor', own, branch)).toBe('')
    expect(repo.git('show', `${branch}:own.txt`)).toBe('by the agent\n')
    expect(subjects(repo, `main..${branch}`, '--no-merges').toSorted()).toEqual([
      'AI Tool: Write - Write a.txt',
      'AI Tool: Write - Write b.txt',
      'Write own.txt',
    ])
    expect(status(workspace)).toBe('')
    expectSound(repo)
  })

  test('K5: without any other change they are published, too', async () => {
    const { repo, lib, workspace, edit } = await started()
    await edit('a.txt', 'step\n')
    workspace.write('b.txt', 'work\n')
    await lib.checkpoint({ task: 'T1' })
    workspace.git('commit', '--quiet', '--allow-empty', '--message=Own')
    const own = workspace.git('rev-parse', 'HEAD').trim()
    expect(await lib.checkpoint({ task: 'T1' })).toMatchObject({ created: false })
    expect(repo.git('merge-base', '--is-ancestor', own, branch)).toBe('')
    expect(status(workspace)).toBe('')
  })

  test('K5: on a detached HEAD they are joined, so that nobody collects them', async () => {
    const { repo, workspace, edit } = await started()
    workspace.git('switch', '--quiet', '--detach')
    const own = commitFile(workspace, 'own.txt', 'detached\n')
    await edit('a.txt', 'step\n')
    expect(repo.git('merge-base', '--is-ancestor', own, branch)).toBe('')
    expect(repo.git('show', `${branch}:own.txt`)).toBe('detached\n')
    // The agent is where it was.
    expect(workspace.git('rev-parse', 'HEAD').trim()).toBe(own)
  })

  test('K5: on a branch of its own they stay there, and the steps go on', async () => {
    const { repo, workspace, edit } = await started()
    workspace.git('switch', '--quiet', '--create', 'agents')
    const own = commitFile(workspace, 'own.txt', 'elsewhere\n')
    await edit('a.txt', 'step\n')
    expect(repo.git('rev-parse', 'agents').trim()).toBe(own)
    expect(repo.git('show', `${branch}:own.txt`)).toBe('elsewhere\n')
    expect(subjects(repo)).toEqual(['AI Tool: Write - Write a.txt'])
    expect(workspace.git('symbolic-ref', 'HEAD').trim()).toBe('refs/heads/agents')
  })
})

describe('P2: the branch is moved or deleted by somebody', () => {
  test('P2: reset by the agent: what it dropped is in the steps', async () => {
    const { repo, workspace, edit } = await started()
    await edit('a.txt', 'step 1\n')
    await edit('a.txt', 'step 2\n')
    workspace.git('reset', '--quiet', '--hard', 'main')
    await edit('b.txt', 'after the reset\n')
    expect(repo.git('show', `${branch}:a.txt`)).toBe('one\n')
    expect(subjects(repo)).toEqual([
      'AI Tool: Write - Write a.txt',
      'AI Tool: Write - Write a.txt',
      'AI Tool: Write - Write b.txt',
    ])
    expect(status(workspace)).toBe('')
  })

  test('P2: deleted and collected: all of it comes back', async () => {
    const { repo, workspace, lib, edit } = await started()
    await edit('a.txt', 'step 1\n')
    workspace.git('switch', '--quiet', '--detach', 'main')
    repo.git('branch', '--delete', '--force', branch)
    repo.git('reflog', 'expire', '--expire=now', '--all')
    repo.git('gc', '--quiet', '--prune=now')
    await edit('b.txt', 'step 2\n')
    for (const { published = '' } of await lib.log('T1'))
      expect(repo.git('cat-file', '-t', published)).toBe('commit\n')
    expect(subjects(repo)).toHaveLength(2)
    expectSound(repo)
  })

  test('P2: moved on by the user: their commit stays in', async () => {
    const { repo, workspace, edit } = await started()
    await edit('a.txt', 'step 1\n')
    const tree = repo.git('rev-parse', `${branch}^{tree}`).trim()
    const users = repo.git('commit-tree', '-p', branch, '-m', 'By the user', tree).trim()
    repo.git('update-ref', `refs/heads/${branch}`, users)
    await edit('a.txt', 'step 2\n')
    expect(repo.git('merge-base', '--is-ancestor', users, branch)).toBe('')
    expect(repo.git('show', `${branch}:a.txt`)).toBe('step 2\n')
    expect(status(workspace)).toBe('')
  })

  test('P2: rebased by the agent onto something else', async () => {
    const { repo, workspace, edit } = await started()
    await edit('a.txt', 'step 1\n')
    const onto = commitFile(repo, 'main.txt', 'moved on\n')
    workspace.git('rebase', '--quiet', 'main')
    await edit('c.txt', 'step 2\n')
    expect(repo.git('merge-base', '--is-ancestor', onto, branch)).toBe('')
    expect(repo.git('show', `${branch}:main.txt`)).toBe('moved on\n')
    expect(status(workspace)).toBe('')
    expectSound(repo)
  })
})

describe('K1: git in the workspace tells the truth', () => {
  test('K1: clean after a step, and every further edit shows', async () => {
    const { workspace, edit } = await started(testRepo({ 'a.txt': 'one\n', 'b.txt': 'two\n' }))
    await edit('a.txt', 'changed\n')
    expect(status(workspace)).toBe('')
    workspace.write('b.txt', 'later\n')
    workspace.write('c.txt', 'new\n')
    rmSync(path.join(workspace.dir, 'a.txt'))
    expect(status(workspace)).toBe(' D a.txt\n M b.txt\n?? c.txt\n')
    expect(workspace.git('diff', '--stat')).toContain('2 files changed')
  })

  test('K1: what the agent had staged is in the step', async () => {
    const { repo, workspace, lib } = await started()
    workspace.write('staged.txt', 'staged\n')
    workspace.git('add', 'staged.txt')
    workspace.write('staged.txt', 'and more\n')
    await lib.checkpoint({ task: 'T1' })
    expect(status(workspace)).toBe('')
    expect(repo.git('show', `${branch}:staged.txt`)).toBe('and more\n')
  })

  test('K1: a lock that a dead git left on the index keeps nothing from being published', async () => {
    const { repo, workspace, edit } = await started()
    const lock = path.join(workspace.git('rev-parse', '--absolute-git-dir').trim(), 'index.lock')
    writeFileSync(lock, '')
    await edit('a.txt', 'step 1\n')
    expect(repo.git('show', `${branch}:a.txt`)).toBe('step 1\n')
    rmSync(lock)
    await edit('a.txt', 'step 2\n')
    expect(status(workspace)).toBe('')
  })
})

describe('checkpoints.publish', () => {
  const duringRun = (lib: ReturnType<typeof library>, script: string) =>
    lib.run({ task: 'T1', create: false, command: ['sh', '-c', script] }, { onEvent: () => {} })

  test('K1: runEnd: HEAD stands still while the agent runs, and git diff shows it its own work', async () => {
    const { repo, lib, workspace } = await started()
    const out = path.join(tempFolder(), 'seen')
    await duringRun(
      lib,
      `echo changed > a.txt; node ${client} ${repo.dir}; git rev-parse HEAD > ${out}; git diff --stat >> ${out}`,
    )
    const seen = readFileSync(out, 'utf8')
    expect(seen).toContain(repo.git('rev-parse', 'main').trim())
    expect(seen).toContain('a.txt | 2 +-')
    expect(subjects(repo)).toEqual(['AI Tool: Inside - the run'])
    expect(status(workspace)).toBe('')
  })

  test('K1: always: every step is a commit at once', async () => {
    const repo = withEnv(testRepo(), { OFFSHOOT_CHECKPOINTS_PUBLISH: 'always' })
    const { lib } = await started(repo)
    const out = path.join(tempFolder(), 'seen')
    await duringRun(lib, `echo changed > a.txt; node ${client} ${repo.dir}; git log --format=%s -1 > ${out}`)
    expect(readFileSync(out, 'utf8')).toBe('AI Tool: Inside - the run\n')
  })

  test('K1: never: the steps stay in the vault', async () => {
    const repo = withEnv(testRepo(), { OFFSHOOT_CHECKPOINTS_PUBLISH: 'never' })
    const { lib, edit, workspace } = await started(repo)
    await edit('a.txt', 'step\n')
    await duringRun(lib, 'echo more > b.txt')
    expect(subjects(repo)).toEqual([])
    expect(await lib.log('T1')).toHaveLength(2)
    expect((await lib.log('T1')).every((step) => step.published === undefined)).toBe(true)
    expect(status(workspace)).toBe(' M a.txt\n?? b.txt\n')
  })

  /** Takes a checkpoint from inside of a run, as a hook of the agent does. */
  const client = path.resolve(import.meta.dirname, '../support/vault-checkpoint.ts')
})

describe('L5: an adopted branch', () => {
  test('L5: is never moved; the steps go to a branch of ours', async () => {
    const repo = testRepo()
    repo.git('branch', 'mine')
    const tip = repo.git('rev-parse', 'mine').trim()
    const { workspace, edit, lib } = await started(repo, {}, 'mine')
    await edit('a.txt', 'step\n')
    expect(repo.git('rev-parse', 'mine').trim()).toBe(tip)
    expect(subjects(repo)).toEqual(['AI Tool: Write - Write a.txt'])
    expect(status(workspace)).toBe(' M a.txt\n')
    const own = commitFile(workspace, 'own.txt', 'own\n')
    await edit('b.txt', 'step\n')
    expect(repo.git('rev-parse', 'mine').trim()).toBe(own)
    await lib.remove({ task: 'T1', force: true })
    expect(repo.git('rev-parse', 'mine').trim()).toBe(own)
  })

  test('L5: a branch of the user’s that has the name of ours stays where it is', async () => {
    const repo = testRepo()
    repo.git('branch', 'mine')
    repo.git('branch', branch)
    const tip = repo.git('rev-parse', branch).trim()
    const { edit } = await started(repo, {}, 'mine')
    await edit('a.txt', 'step\n')
    await edit('a.txt', 'another\n')
    expect(repo.git('rev-parse', branch).trim()).toBe(tip)
    expect(branches(repo)).toEqual(['main', 'mine', branch, `${branch}-2`])
    expect(subjects(repo, `main..${branch}-2`)).toHaveLength(2)
  })
})

test('P2: a checkpoint of a task whose branch nobody published yet survives the loss of all caches', async () => {
  const { repo, lib, edit, workspace } = await started()
  await edit('a.txt', 'step 1\n')
  rmSync(path.join(workspace.dir, 'a.txt'))
  await lib.close()
  const vaults = path.join(repo.env.OFFSHOOT_HOME ?? '', 'vaults')
  const found = execFileSync('find', [vaults, '-path', '*/tasks/*', '-type', 'f'], { encoding: 'utf8' })
    .trim()
    .split('\n')
  for (const file of found.filter((name) => !name.includes('/refs/') && !name.endsWith('/published')))
    rmSync(file)
  const again = library(repo)
  const { created, checkpoint } = await again.checkpoint({ task: 'T1' })
  expect(created).toBe(true)
  expect(checkpoint.files).toEqual([{ path: 'a.txt', status: 'deleted' }])
  expect(await again.checkpoint({ task: 'T1' })).toMatchObject({ created: false })
  expect(existsSync(path.join(workspace.dir, 'a.txt'))).toBe(false)
})
