import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { openRepo } from '../../src/index.ts'
import { checkoutState } from '../support/checkout-state.ts'
import { type TestRepo, testRepo } from '../support/repo.ts'

/** A folder to act in: the user's checkout or the agent's workspace. */
function hands(dir: string, env: Record<string, string>) {
  const at = (name: string) => path.join(dir, name)
  return {
    dir,
    at,
    write(name: string, content: string | Uint8Array) {
      mkdirSync(path.dirname(at(name)), { recursive: true })
      writeFileSync(at(name), content)
    },
    edit: (name: string, from: string | RegExp, to: string) =>
      writeFileSync(at(name), readFileSync(at(name), 'latin1').replace(from, to), 'latin1'),
    read: (name: string) => readFileSync(at(name), 'utf8'),
    remove: (name: string) => rmSync(at(name), { recursive: true }),
    move(from: string, to: string) {
      mkdirSync(path.dirname(at(to)), { recursive: true })
      renameSync(at(from), at(to))
    },
    git: (...args: string[]) => execFileSync('git', args, { cwd: dir, env, encoding: 'utf8', stdio: 'pipe' }),
  }
}

type Hands = ReturnType<typeof hands>

interface Scenario {
  readonly name: string
  readonly base?: Record<string, string>
  readonly config?: Record<string, string>
  /** More to prepare before the task starts. */
  readonly prepare?: (repo: TestRepo) => void
  readonly agent: (agent: Hands) => void
  readonly user?: (user: Hands) => void
  /** What must be there afterwards; or `refused`: a conflict of that kind, and nothing changed. */
  readonly expected: ((user: Hands) => void) | { readonly refused: string }
}

const lines = (count: number, change: Record<number, string> = {}) =>
  Array.from({ length: count }, (_, n) => `${change[n + 1] ?? `line ${n + 1}`}\n`).join('')

const scenarios: Scenario[] = [
  {
    name: 'the same file dirty in another hunk',
    base: { f: lines(30) },
    user: (u) => u.write('f', lines(30, { 2: 'user' })),
    agent: (a) => a.write('f', lines(30, { 28: 'agent' })),
    expected: (u) => expect(u.read('f')).toBe(lines(30, { 2: 'user', 28: 'agent' })),
  },
  {
    name: 'the same file dirty two lines away',
    base: { f: lines(30) },
    user: (u) => u.write('f', lines(30, { 10: 'user' })),
    agent: (a) => a.write('f', lines(30, { 12: 'agent' })),
    expected: (u) => expect(u.read('f')).toBe(lines(30, { 10: 'user', 12: 'agent' })),
  },
  {
    name: 'the same line dirty',
    base: { f: lines(9) },
    user: (u) => u.write('f', lines(9, { 5: 'user' })),
    agent: (a) => {
      a.write('f', lines(9, { 5: 'agent' }))
      a.write('other', 'other\n')
    },
    expected: { refused: 'content' },
  },
  {
    name: 'the user made the identical edit',
    base: { f: lines(9) },
    user: (u) => u.write('f', lines(9, { 5: 'same' })),
    agent: (a) => a.write('f', lines(9, { 5: 'same' })),
    expected: (u) => expect(u.read('f')).toBe(lines(9, { 5: 'same' })),
  },
  {
    name: 'the user inserted 200 lines above',
    base: { f: lines(30) },
    user: (u) => u.write('f', 'above\n'.repeat(200) + lines(30)),
    agent: (a) => a.write('f', lines(30, { 28: 'agent' })),
    expected: (u) => expect(u.read('f')).toBe('above\n'.repeat(200) + lines(30, { 28: 'agent' })),
  },
  {
    name: 'the agent renamed a file that the user edited',
    base: { old: lines(30) },
    user: (u) => u.write('old', lines(30, { 3: 'user' })),
    agent: (a) => a.move('old', 'new'),
    expected: (u) => {
      expect(existsSync(u.at('old'))).toBe(false)
      expect(u.read('new')).toBe(lines(30, { 3: 'user' }))
    },
  },
  {
    name: 'the agent renamed and edited a file that the user edited',
    base: { old: lines(30) },
    user: (u) => u.write('old', lines(30, { 3: 'user' })),
    agent: (a) => {
      a.remove('old')
      a.write('new', lines(30, { 25: 'agent' }))
    },
    expected: (u) => {
      expect(existsSync(u.at('old'))).toBe(false)
      expect(u.read('new')).toBe(lines(30, { 3: 'user', 25: 'agent' }))
    },
  },
  {
    name: 'the user renamed a file, staged, that the agent edited',
    base: { old: lines(30) },
    user: (u) => u.git('mv', 'old', 'moved'),
    agent: (a) => a.write('old', lines(30, { 25: 'agent' })),
    expected: (u) => {
      expect(existsSync(u.at('old'))).toBe(false)
      expect(u.read('moved')).toBe(lines(30, { 25: 'agent' }))
    },
  },
  {
    name: 'the user renamed a file, unstaged, that the agent edited',
    base: { old: lines(30) },
    user: (u) => u.move('old', 'moved'),
    agent: (a) => a.write('old', lines(30, { 25: 'agent' })),
    expected: (u) => {
      expect(existsSync(u.at('old'))).toBe(false)
      expect(u.read('moved')).toBe(lines(30, { 25: 'agent' }))
    },
  },
  {
    name: 'the agent set the executable bit of a file that is dirty',
    base: { f: lines(9) },
    user: (u) => u.write('f', lines(9, { 2: 'user' })),
    agent: (a) => chmodSync(a.at('f'), 0o755),
    expected: (u) => {
      expect(u.read('f')).toBe(lines(9, { 2: 'user' }))
      expect(lstatSync(u.at('f')).mode & 0o111).not.toBe(0)
    },
  },
  {
    name: 'a file became a link, and a link points elsewhere',
    base: { f: 'f\n', g: 'g\n' },
    prepare: (repo) => {
      symlinkSync('f', path.join(repo.dir, 'link'))
      repo.git('add', '.')
      repo.git('commit', '-qm', 'link')
    },
    agent: (a) => {
      a.remove('g')
      symlinkSync('f', a.at('g'))
      a.remove('link')
      symlinkSync('g', a.at('link'))
    },
    expected: (u) => {
      expect(readlinkSync(u.at('g'))).toBe('f')
      expect(readlinkSync(u.at('link'))).toBe('g')
    },
  },
  {
    name: 'a binary file that only the agent changed',
    base: { b: 'a\0b' },
    agent: (a) => a.write('b', Buffer.from([0, 255, 1, 2, 0])),
    expected: (u) => expect(readFileSync(u.at('b'))).toEqual(Buffer.from([0, 255, 1, 2, 0])),
  },
  {
    name: 'a binary file that both changed',
    base: { b: 'a\0b' },
    user: (u) => u.write('b', 'user\0'),
    agent: (a) => a.write('b', 'agent\0'),
    expected: { refused: 'content' },
  },
  {
    name: 'core.autocrlf=true with CRLF in the checkout',
    base: { f: lines(30) },
    config: { 'core.autocrlf': 'true' },
    prepare: (repo) => {
      rmSync(path.join(repo.dir, 'f'))
      repo.git('checkout', '--', 'f')
    },
    user: (u) => u.edit('f', 'line 2\r\n', 'user\r\n'),
    agent: (a) => a.edit('f', 'line 28\r\n', 'agent\r\n'),
    expected: (u) => expect(u.read('f')).toBe(lines(30, { 2: 'user', 28: 'agent' }).replaceAll('\n', '\r\n')),
  },
  {
    name: 'eol=crlf by attribute, and a new file',
    base: { '.gitattributes': '*.txt eol=crlf\n', 'a.txt': 'a\n' },
    agent: (a) => a.write('new.txt', 'one\r\ntwo\r\n'),
    expected: (u) => expect(u.read('new.txt')).toBe('one\r\ntwo\r\n'),
  },
  {
    name: 'CRLF in the repository itself',
    base: { f: lines(30).replaceAll('\n', '\r\n') },
    user: (u) => u.edit('f', 'line 2\r', 'user\r'),
    agent: (a) => a.edit('f', 'line 28\r', 'agent\r'),
    expected: (u) => expect(u.read('f')).toBe(lines(30, { 2: 'user', 28: 'agent' }).replaceAll('\n', '\r\n')),
  },
  {
    name: 'a clean and smudge filter',
    base: { '.gitattributes': '*.big filter=rot\n', 'x.big': 'nop\n' },
    config: { 'filter.rot.clean': 'tr a-z n-za-m', 'filter.rot.smudge': 'tr a-z n-za-m' },
    agent: (a) => a.write('x.big', 'changed by the agent\n'),
    expected: (u) => expect(u.read('x.big')).toBe('changed by the agent\n'),
  },
  {
    name: 'working-tree-encoding=UTF-16LE',
    base: { '.gitattributes': '*.u16 working-tree-encoding=UTF-16LE-BOM\n' },
    agent: (a) => a.write('x.u16', Buffer.from('\ufeffhello\n', 'utf16le')),
    expected: (u) => expect(readFileSync(u.at('x.u16'))).toEqual(Buffer.from('\ufeffhello\n', 'utf16le')),
  },
  {
    name: 'an untracked file with other content in the way',
    user: (u) => u.write('new', 'of the user\n'),
    agent: (a) => a.write('new', 'of the agent\n'),
    expected: { refused: 'untracked' },
  },
  {
    name: 'an ignored file in the way of one that the agent added by force',
    base: { '.gitignore': 'secret\n' },
    user: (u) => u.write('secret', 'of the user\n'),
    agent: (a) => {
      a.write('.gitignore', '\n')
      a.write('secret', 'of the agent\n')
    },
    expected: { refused: 'untracked' },
  },
  {
    name: 'a file became a folder',
    base: { thing: 'file\n' },
    agent: (a) => {
      a.remove('thing')
      a.write('thing/inside', 'inside\n')
    },
    expected: (u) => expect(u.read('thing/inside')).toBe('inside\n'),
  },
  {
    name: 'a folder became a file',
    base: { 'thing/a': 'a\n', 'thing/b': 'b\n' },
    agent: (a) => {
      a.remove('thing')
      a.write('thing', 'file\n')
    },
    expected: (u) => expect(u.read('thing')).toBe('file\n'),
  },
  {
    name: 'a folder became a file, and the user has an untracked file in it',
    base: { 'thing/a': 'a\n' },
    user: (u) => u.write('thing/mine', 'mine\n'),
    agent: (a) => {
      a.remove('thing')
      a.write('thing', 'file\n')
    },
    expected: { refused: 'untracked' },
  },
  {
    name: 'a folder became a file, and the user has an ignored file in it',
    base: { 'thing/a': 'a\n', '.gitignore': 'thing/mine\n' },
    user: (u) => u.write('thing/mine', 'mine\n'),
    agent: (a) => {
      a.remove('thing')
      a.write('thing', 'file\n')
    },
    expected: { refused: 'untracked' },
  },
  {
    name: 'the agent deleted a file that the user edited',
    base: { f: lines(9) },
    user: (u) => u.write('f', lines(9, { 2: 'user' })),
    agent: (a) => a.remove('f'),
    expected: { refused: 'delete/modify' },
  },
  {
    name: 'the user deleted a file that the agent edited',
    base: { f: lines(9) },
    user: (u) => u.remove('f'),
    agent: (a) => a.write('f', lines(9, { 2: 'agent' })),
    expected: { refused: 'delete/modify' },
  },
  {
    name: 'staged and unstaged versions stay apart',
    base: { f: lines(30) },
    user: (u) => {
      u.write('f', lines(30, { 2: 'staged' }))
      u.git('add', 'f')
      u.write('f', lines(30, { 2: 'unstaged' }))
    },
    agent: (a) => a.write('f', lines(30, { 28: 'agent' })),
    expected: (u) => {
      expect(u.read('f')).toBe(lines(30, { 2: 'unstaged', 28: 'agent' }))
      expect(u.git('show', ':f')).toBe(lines(30, { 2: 'staged' }))
    },
  },
  {
    name: 'the user committed on top',
    base: { f: lines(30) },
    user: (u) => {
      u.write('f', lines(30, { 2: 'committed' }))
      u.git('commit', '-qam', 'on top')
    },
    agent: (a) => a.write('f', lines(30, { 28: 'agent' })),
    expected: (u) => expect(u.read('f')).toBe(lines(30, { 2: 'committed', 28: 'agent' })),
  },
  {
    name: 'odd names',
    agent: (a) => {
      for (const name of ['new\nline', 'qu"ote', 'Ünïcode', '-dash', ' blank ', ':colon', '*star'])
        a.write(name, name)
    },
    expected: (u) => {
      for (const name of ['new\nline', 'qu"ote', 'Ünïcode', '-dash', ' blank ', ':colon', '*star']) {
        expect(u.read(name)).toBe(name)
      }
    },
  },
  {
    name: 'diff.noprefix and color.ui=always in the config',
    config: { 'diff.noprefix': 'true', 'color.ui': 'always' },
    base: { f: lines(9) },
    agent: (a) => a.write('f', lines(9, { 5: 'agent' })),
    expected: (u) => expect(u.read('f')).toBe(lines(9, { 5: 'agent' })),
  },
  {
    name: 'apply.whitespace=fix in the config',
    config: { 'apply.whitespace': 'fix' },
    base: { f: lines(9) },
    agent: (a) => a.write('f', lines(9, { 5: 'trailing   ' })),
    expected: (u) => expect(u.read('f')).toBe(lines(9, { 5: 'trailing   ' })),
  },
  {
    name: 'an external diff and a textconv in the config',
    config: { 'diff.external': 'false', 'diff.x.textconv': 'false' },
    base: { '.gitattributes': '* diff=x\n', f: lines(9) },
    agent: (a) => a.write('f', lines(9, { 5: 'agent' })),
    expected: (u) => expect(u.read('f')).toBe(lines(9, { 5: 'agent' })),
  },
  {
    name: 'no newline at the end',
    base: { f: 'a\nb', g: 'a\n' },
    agent: (a) => {
      a.write('f', 'a\nb\n')
      a.write('g', 'a')
    },
    expected: (u) => expect([u.read('f'), u.read('g')]).toEqual(['a\nb\n', 'a']),
  },
  {
    name: 'an empty file added, the last file of a folder deleted',
    base: { 'only/one': 'x\n' },
    agent: (a) => {
      a.write('empty', '')
      a.remove('only')
    },
    expected: (u) => {
      expect(u.read('empty')).toBe('')
      expect(existsSync(u.at('only'))).toBe(false)
    },
  },
  {
    name: 'a nested repository without commits in the checkout',
    user: (u) => u.git('init', '-q', 'nested'),
    agent: (a) => a.write('new', 'new\n'),
    expected: (u) => expect(u.read('new')).toBe('new\n'),
  },
  {
    name: 'a pipe in the checkout',
    user: (u) => execFileSync('mkfifo', [u.at('pipe')]),
    agent: (a) => a.write('new', 'new\n'),
    expected: (u) => expect(u.read('new')).toBe('new\n'),
  },
  {
    name: 'the user has a link to outside where the agent adds a folder',
    user: (u) => {
      mkdirSync(path.join(u.dir, '..', 'outside'))
      symlinkSync('../outside', u.at('cache'))
    },
    agent: (a) => a.write('cache/f', 'of the agent\n'),
    expected: { refused: 'symlink' },
  },
  {
    name: 'the agent renamed a folder in which the user edited a file',
    base: { 'a/f': lines(30), 'a/g': 'g\n' },
    user: (u) => u.write('a/f', lines(30, { 3: 'user' })),
    agent: (a) => a.move('a', 'b'),
    expected: (u) => {
      expect(existsSync(u.at('a'))).toBe(false)
      expect(u.read('b/f')).toBe(lines(30, { 3: 'user' }))
    },
  },
  {
    name: 'a name that differs from an untracked one only in case',
    user: (u) => u.write('readme.md', 'of the user\n'),
    agent: (a) => a.write('README.md', 'of the agent\n'),
    expected: { refused: 'case' },
  },
]

test.each(scenarios)('A1, A3: $name', async ({ base, config, prepare, agent, user, expected }) => {
  const repo = testRepo(base)
  for (const [key, value] of Object.entries(config ?? {})) repo.git('config', '--global', key, value)
  if (base?.['.gitattributes'] !== undefined) {
    for (const name of Object.keys(base).slice(1)) rmSync(path.join(repo.dir, name))
    repo.git('checkout', '--', '.')
    repo.git('add', '--renormalize', '.')
    repo.git('commit', '-q', '--allow-empty', '-m', 'as the attributes say')
  }
  prepare?.(repo)
  const offshoot = openRepo(repo.dir, { env: repo.env })
  try {
    const { task } = await offshoot.start({ task: 'T1' })
    agent(hands(task.path, repo.env))
    const users = hands(repo.dir, repo.env)
    user?.(users)
    const before = checkoutState(repo)
    if (typeof expected === 'function') {
      const { operation } = await offshoot.accept({ task: 'T1' })
      expected(users)
      expect(checkoutState(repo).index).toBe(before.index)
      await offshoot.undo(operation)
      expect(checkoutState(repo)).toEqual(before)
    } else {
      const refused = await offshoot.accept({ task: 'T1' }).catch((error) => error)
      expect(refused).toMatchObject({ code: 'WT_011' })
      expect(refused.data.conflicts.map((conflict: { kind: string }) => conflict.kind)).toContain(
        expected.refused,
      )
      expect(checkoutState(repo)).toEqual(before)
      const { preview } = await offshoot.accept({ task: 'T1', dryRun: true })
      expect(preview?.clean).toBe(false)
    }
  } finally {
    await offshoot.close()
  }
})
