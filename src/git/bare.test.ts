/** Bare repositories, compared with the answers of git itself. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { testRepo } from '../../test/support/repo.ts'
import { isBare } from './bare.ts'

const format = '[core]\n\trepositoryformatversion = 1\n'

test.each([
  ['says nothing', '', '', false, true],
  ['bare = true', '[core]\n\tbare = true\n', '', true, true],
  ['bare = false', '[core]\n\tbare = false\n', '', false, false],
  ['BARE=Yes', '[CORE]\nBARE=Yes', '', true, true],
  ['on', '[core] bare = on # why\n', '', true, true],
  ['0', '[core]\n\tbare = 0\n', '', false, false],
  ['a key without a value', '[core]\n\tbare\n', '', true, true],
  ['a string', '[core]\r\n\tbare = "true"\r\n', '', true, true],
  [
    'the last of two',
    '[core]\n\tbare = true\n[user]\n\tname = x\n[core]\n\tbare = false\n',
    '',
    false,
    false,
  ],
  ['another section', '[my]\n\tbare = true\n', '', false, true],
  ['its own config', '[extensions]\n\tworktreeConfig = true\n', '[core]\n\tbare = true\n', true, true],
  [
    'its own config against the common one',
    '[core]\n\tbare = true\n[extensions]\n\tworktreeConfig\n',
    '[core]\n\tbare = false\n',
    false,
    false,
  ],
  ['a config of its own that does not count', '', '[core]\n\tbare = true\n', false, true],
])('L10: bare is what git calls bare: %s', (_, config, own, inDotGit, elsewhere) => {
  const repo = testRepo()
  for (const [folder, expected] of [
    ['.git', inDotGit],
    ['x.git', elsewhere],
  ] as const) {
    const gitDir = path.join(repo.home, 'some', folder)
    repo.git('init', '--quiet', '--bare', gitDir)
    writeFileSync(path.join(gitDir, 'config'), format + config)
    writeFileSync(path.join(gitDir, 'config.worktree'), own)
    expect(isBare(gitDir)).toBe(expected)
    // Git itself answers, from a folder in which it finds the repository.
    const asked = ['rev-parse', '--is-bare-repository']
    const cwd = folder === '.git' ? path.dirname(gitDir) : gitDir
    expect(execFileSync('git', asked, { cwd, env: repo.env, encoding: 'utf8' })).toBe(`${expected}\n`)
  }
})
