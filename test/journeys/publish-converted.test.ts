import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { type TestRepo, tempFolder, testRepo } from '../support/repo.ts'
import { inFolder, library } from '../support/workspace.ts'

const branch = 'offshoot/T1'
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')

/** What `git add` stores of the workspace as it is. */
function added(workspace: TestRepo): string {
  const index = path.join(tempFolder(), 'index')
  const env = { ...workspace.env, GIT_INDEX_FILE: index }
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: workspace.dir,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  git('read-tree', 'main')
  git('add', '--all')
  return git('write-tree').trim()
}

interface Case {
  readonly before: (repo: TestRepo) => void
  readonly edits: Record<string, string | Buffer>[]
}

const cases: Record<string, Case> = {
  'autocrlf=input of the user': {
    before: (repo) => repo.git('config', '--global', 'core.autocrlf', 'input'),
    edits: [{ 'crlf.txt': 'one\r\ntwo\r\n' }, { 'crlf.txt': 'one\r\nthree\r\n', 'a.txt': 'x\r\n' }],
  },
  'autocrlf=true of the repository': {
    before: (repo) => repo.git('config', 'core.autocrlf', 'true'),
    edits: [{ 'crlf.txt': 'one\r\ntwo\r\n', 'lf.txt': 'one\n', bin: Buffer.from([0, 13, 10]) }],
  },
  'eol=crlf, and attributes in folders': {
    before(repo) {
      repo.write('.gitattributes', '*.txt text eol=crlf\n')
      repo.write('sub/.gitattributes', '*.txt -text\n')
      repo.git('add', '--all')
      repo.git('commit', '--quiet', '--message=Attributes')
    },
    edits: [
      { 'crlf.txt': 'one\r\n', 'sub/crlf.txt': 'one\r\n', 'sub/deep/odd "name"\n.txt': 'two\r\n' },
      { 'new/.gitattributes': '*.dat text\n', 'new/a.dat': 'a\r\n', 'old.dat': 'b\r\n' },
    ],
  },
  'UTF-16': {
    before: (repo) => repo.write('.git/info/attributes', '*.txt text working-tree-encoding=UTF-16LE-BOM\n'),
    edits: [{ 'a.txt': utf16('größer\r\n') }, { 'b.txt': utf16('kleiner\n') }],
  },
  "a filter in the user's own settings": {
    before(repo) {
      repo.git('config', '--global', 'filter.turn.clean', 'tr a-z n-za-m')
      repo.git('config', '--global', 'filter.turn.smudge', 'tr a-z n-za-m')
      repo.git('config', '--global', 'filter.turn.required', 'true')
      repo.write('.gitattributes', '*.txt filter=turn\n')
      repo.git('add', '--all')
      repo.git('commit', '--quiet', '--message=Filter')
    },
    edits: [{ 'a.txt': 'plain\n' }, { 'new.txt': 'new\n', 'plain.md': 'plain\n' }],
  },
  'a filter in the repository, there at the start': {
    before(repo) {
      repo.git('config', 'filter.turn.clean', 'tr a-z n-za-m')
      repo.git('config', 'filter.turn.smudge', 'tr a-z n-za-m')
      repo.write('.gitattributes', '*.txt filter=turn\n')
      repo.git('add', '--all')
      repo.git('commit', '--quiet', '--message=Filter')
    },
    edits: [{ 'a.txt': 'plain\n', [`new ${'é'}.txt`]: 'new\n' }],
  },
  'attributes in the folder of the user': {
    before: (repo) => repo.write('../.config/git/attributes', '*.txt text ident\n'),
    edits: [{ 'a.txt': '$Id: whatever $\r\n' }],
  },
}

describe('K1: published is what git add would store', () => {
  test.each(Object.entries(cases))('K1: %s', async (_, { before, edits }) => {
    const repo = testRepo()
    before(repo)
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    const workspace = inFolder(repo, task.path)
    for (const files of edits) {
      for (const [name, content] of Object.entries(files)) workspace.write(name, content)
      const expected = added(workspace)
      const { created } = await lib.checkpoint({ task: 'T1' })
      expect(created).toBe(true)
      expect(repo.git('rev-parse', `${branch}^{tree}`).trim()).toBe(expected)
      expect(workspace.git('status', '--porcelain')).toBe('')
    }
  })

  test('K1: what cannot be converted is published as it is, and the rest converted', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    const workspace = inFolder(repo, task.path)
    workspace.write('.gitattributes', '*.txt working-tree-encoding=UTF-16\n*.crlf text\n')
    for (let n = 0; n < 9; n++) workspace.write(`file-${n}.txt`, n === 4 ? 'no UTF-16\n' : utf16(`${n}\n`))
    workspace.write('a.crlf', 'one\r\n')
    await lib.checkpoint({ task: 'T1' })
    expect(repo.git('show', `${branch}:file-4.txt`)).toBe('no UTF-16\n')
    expect(repo.git('show', `${branch}:file-5.txt`)).toBe('5\n')
    expect(repo.git('show', `${branch}:a.crlf`)).toBe('one\n')
  })

  test('K1: core.safecrlf=true keeps nothing from being published', async () => {
    const repo = testRepo()
    repo.git('config', '--global', 'core.autocrlf', 'input')
    repo.git('config', '--global', 'core.safecrlf', 'true')
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'mixed.txt'), 'one\r\ntwo\n')
    expect(await lib.checkpoint({ task: 'T1' })).toMatchObject({ created: true })
    expect(repo.git('show', `${branch}:mixed.txt`)).toBe('one\ntwo\n')
  })

  test('P4: what a required filter should have hidden is not published when the filter fails', async () => {
    const repo = testRepo()
    repo.git('config', '--global', 'filter.hide.clean', 'false')
    repo.git('config', '--global', 'filter.hide.required', 'true')
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    const workspace = inFolder(repo, task.path)
    workspace.write('.gitattributes', 'secret filter=hide\n')
    workspace.write('secret', 'do not show\n')
    const taken = await lib.checkpoint({ task: 'T1' })
    expect(taken).toMatchObject({ created: true, unpublished: expect.stringContaining('external filter') })
    expect(taken.checkpoint.published).toBeUndefined()
    expect(repo.git('log', '--oneline', `main..${branch}`)).toBe('')
    // The step itself is there, and so is the next one.
    repo.git('config', '--global', 'filter.hide.clean', 'tr a-z n-za-m')
    workspace.write('a.txt', 'two\n')
    await lib.checkpoint({ task: 'T1' })
    expect(await lib.log('T1')).toHaveLength(2)
    expect(repo.git('show', `${branch}:secret`)).toBe('qb abg fubj\n')
  })

  test('K1: a filter that keeps contents beside the repository, as LFS does, keeps them with the user', async () => {
    const repo = testRepo()
    const store =
      '#!/bin/sh\nset -e\nstore="$(git rev-parse --git-common-dir)/lfs/objects"\nmkdir -p "$store"\n'
    const tools = {
      clean:
        'cat > "$store/new"\nid=$(sha256sum < "$store/new" | cut -c-64)\nmv "$store/new" "$store/$id"\necho "oid $id"\n',
      smudge: 'read -r _ id\ncat "$store/$id"\n',
    }
    for (const [name, script] of Object.entries(tools)) {
      const file = path.join(repo.home, `fake-lfs-${name}`)
      writeFileSync(file, store + script)
      chmodSync(file, 0o755)
      repo.git('config', '--global', `filter.lfs.${name}`, file)
    }
    repo.git('config', '--global', 'filter.lfs.required', 'true')
    repo.write('.gitattributes', '*.bin filter=lfs\n')
    repo.write('first.bin', 'first content')
    repo.git('add', '--all')
    repo.git('commit', '--quiet', '--message=LFS')
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    writeFileSync(path.join(task.path, 'second.bin'), 'second content')
    await lib.checkpoint({ task: 'T1' })
    const [, id = ''] = repo.git('show', `${branch}:second.bin`).trim().split(' ')
    expect(readFileSync(path.join(repo.dir, '.git/lfs/objects', id), 'utf8')).toBe('second content')
  })

  test('K1: 3,000 files under text=auto are published at once', async () => {
    const repo = testRepo({ '.gitattributes': '* text=auto\n' })
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    mkdirSync(path.join(task.path, 'many'))
    for (let n = 0; n < 3_000; n++) writeFileSync(path.join(task.path, `many/${n}.txt`), `line ${n}\r\n`)
    await lib.checkpoint({ task: 'T1' })
    expect(repo.git('show', `${branch}:many/2999.txt`)).toBe('line 2999\n')
    expect(repo.git('ls-tree', '-r', '--name-only', branch).split('\n')).toHaveLength(3_002)
  })
})

describe('P4: nothing that the agent set up is run', () => {
  /** A command that leaves a trace. */
  const canary = (file: string) => `sh -c 'echo ran >> ${file}; cat'`

  test('P4: filters that it planted in the repository after the start', async () => {
    const repo = testRepo({ 'a.txt': 'one\n', '.gitattributes': '*.dat filter=known\n' })
    const trace = path.join(tempFolder(), 'trace')
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    const workspace = inFolder(repo, task.path)
    for (const name of ['known', 'planted']) {
      for (const what of ['clean', 'smudge', 'process'])
        workspace.git('config', `filter.${name}.${what}`, canary(trace))
    }
    repo.write('.git/info/attributes', '* filter=planted\n')
    workspace.write('.gitattributes', '* filter=planted\n*.dat filter=known\n')
    workspace.write('a.txt', 'two\n')
    workspace.write('b.dat', 'data\n')
    await lib.checkpoint({ task: 'T1' })
    await lib.rewind({ task: 'T1', to: 0 })
    await lib.rewind({ task: 'T1', to: 1 })
    await lib.show('T1')
    execFileSync('rm', ['-rf', task.path])
    expect(await lib.start({ task: 'T1' })).toMatchObject({ recreated: true })
    await lib.checkpoint({ task: 'T1' })
    expect(existsSync(trace)).toBe(false)
    expect(readFileSync(path.join(task.path, 'b.dat'), 'utf8')).toBe('data\n')
    expect(repo.git('-c', 'filter.planted.smudge=', 'cat-file', 'blob', `${branch}:a.txt`)).toBe('two\n')
  })

  test('P4: a script of the repository that a filter of the user’s names, as the agent rewrote it', async () => {
    const repo = testRepo({ 'a.txt': 'one\n', 'clean.sh': '#!/bin/sh\ncat\n' })
    chmodSync(path.join(repo.dir, 'clean.sh'), 0o755)
    repo.git('add', '--all')
    repo.git('commit', '--quiet', '--message=Script')
    repo.git('config', '--global', 'filter.script.clean', './clean.sh')
    const trace = path.join(tempFolder(), 'trace')
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    const workspace = inFolder(repo, task.path)
    workspace.write('clean.sh', `#!/bin/sh\necho ran >> ${trace}\ncat\n`)
    workspace.write('.gitattributes', '* filter=script\n')
    workspace.write('a.txt', 'two\n')
    await lib.checkpoint({ task: 'T1' })
    expect(existsSync(trace)).toBe(false)
  })
})
