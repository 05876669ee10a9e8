import { expect, test } from 'vitest'
import { codexHooks, conductorHooks, cursorSetup, hookSettings } from './peers.ts'

test('H6: of Cursor the commands count one after the other, those for this kind of system first', () => {
  expect(cursorSetup({ 'setup-worktree': ['npm ci'] })).toBe('npm ci')
  expect(cursorSetup({ 'setup-worktree': ['cd app', 'npm ci'] })).toBe('set -e\ncd app\nnpm ci')
  expect(cursorSetup({ 'setup-worktree': 'make', 'setup-worktree-unix': 'make unix' })).toBe('make unix')
  expect(cursorSetup({ 'setup-worktree-windows': ['dir'] })).toBeUndefined()
  expect(() => cursorSetup({ 'setup-worktree': { a: 1 } })).toThrow('setup-worktree')
})

test('H6: of Codex setup and cleanup are taken; what is for one system only is refused', () => {
  expect(codexHooks({ version: 1, setup: { script: '' } })).toEqual({})
  expect(codexHooks({ setup: { script: 'npm ci' }, cleanup: { script: 'rm -rf tmp' } })).toEqual({
    postStart: 'npm ci',
    preRemove: 'rm -rf tmp',
  })
  expect(() => codexHooks({ setup: { script: '', darwin: { script: 'brew' } } })).toThrow(
    'setup.darwin.script',
  )
  expect(() => codexHooks({ setup: { script: 3 } })).toThrow('setup.script')
})

test('H6: of Conductor setup and archive are taken', () => {
  expect(conductorHooks({ scripts: { setup: 'npm ci', run: 'npm start', archive: './bye.sh' } })).toEqual({
    postStart: 'npm ci',
    preRemove: './bye.sh',
  })
  expect(conductorHooks({ name: 'x' })).toEqual({})
  expect(() => conductorHooks({ scripts: { setup: ['a'] } })).toThrow('scripts.setup')
})

test('H6: files that say the same are one, those that differ have to be chosen from', () => {
  const one = { file: 'a', hooks: { postStart: 'npm ci' } }
  const two = { file: 'b', hooks: { postStart: 'npm ci', preRemove: 'bye' } }
  expect(hookSettings([one, two])).toEqual([
    { key: 'hooks.postStart', value: 'npm ci', from: 'a' },
    { key: 'hooks.preRemove', value: 'bye', from: 'b' },
  ])
  expect(() => hookSettings([one, { file: 'c', hooks: { postStart: 'make' } }])).toThrow('a and c')
})
