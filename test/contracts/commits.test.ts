import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { messageFaults } from '../../scripts/commits/message.ts'
import { type TestRepo, testRepo } from '../support/repo.ts'
import { root } from './documents.ts'

describe('a message that keeps the rule', () => {
  test.each([
    'vault: pin the tree before removing the workspace',
    'cli, docs: name the argument that is missing',
    'core/landing: split the patch from its plan\n\nThe plan is pure now.',
    `docs: link a page\n\nhttps://example.com/${'a'.repeat(150)}`,
    `bench: ${'x'.repeat(30)} ${'y'.repeat(33)}`,
  ])('%j', (message) => {
    expect(messageFaults(message)).toEqual([])
  })
})

describe('a message against the rule', () => {
  test.each([
    ['Show the figures of this day', 'area: verb'],
    ['vault pin the tree', 'area: verb'],
    ['Vault: pin the tree', 'area: verb'],
    ['vault: Pin the tree', 'area: verb'],
    ['vault:pin the tree', 'area: verb'],
    ['vault: pin', 'area: verb'],
    ['', 'area: verb'],
    [`bench: ${'x'.repeat(30)} ${'y'.repeat(35)}`, '73 characters'],
    ['vault: pin the tree.', 'full stop'],
    ['vault: pin the tree\nbecause', 'empty line'],
    [`vault: pin the tree\n\nwhy ${'because '.repeat(15)}`, 'line of the body'],
  ])('%j', (message, fault) => {
    expect(messageFaults(message)).toEqual([expect.stringContaining(fault)])
  })
})

const script = path.join(root, 'scripts/commits/run.ts')

function check(dir: string, env: TestRepo['env'], ...args: string[]) {
  const { status, stdout } = spawnSync(process.execPath, [script, ...args], {
    cwd: dir,
    env,
    encoding: 'utf8',
  })
  return { status, stdout }
}

describe('npm run check:commits', () => {
  test('names each commit since the base that is against the rule; older ones and merges are exempt', () => {
    const repo = testRepo({ 'a.txt': 'one\n' })
    const commit = (message: string) => repo.git('commit', '--quiet', '--allow-empty', `--message=${message}`)
    commit('Older than the rule')
    repo.git('tag', 'base')
    commit('vault: pin the tree')
    repo.git('switch', '--quiet', '--create', 'side', 'base')
    commit('files: copy the folder')
    repo.git('merge', '--quiet', '--no-edit', '-m', 'Bring both together', 'main')
    expect(check(repo.dir, repo.env, '--base', 'base')).toEqual({
      status: 0,
      stdout: expect.stringContaining('2 commits checked, 0 against') as string,
    })
    commit('Planted subject')
    const { status, stdout } = check(repo.dir, repo.env, '--base', 'base')
    expect(status).toBe(1)
    expect(stdout).toMatch(/^[0-9a-f]+ Planted subject\n {2}the subject is not/)
    expect(stdout).toContain('3 commits checked, 1 against')
  })

  test('says so and passes where the history does not reach back to the base', () => {
    const repo = testRepo({ 'a.txt': 'one\n' })
    const none = path.join(repo.home, 'none')
    mkdirSync(none)
    expect(check(repo.dir, repo.env)).toEqual({
      status: 0,
      stdout: expect.stringContaining('shallow clone') as string,
    })
    expect(check(none, repo.env)).toEqual({
      status: 0,
      stdout: expect.stringContaining('No git history') as string,
    })
  })
})
