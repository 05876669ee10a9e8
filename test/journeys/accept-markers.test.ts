import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { checkoutState } from '../support/checkout-state.ts'
import { offshoot } from '../support/repo.ts'
import { lines, worked } from '../support/worked.ts'

const binary = (byte: number) => new Uint8Array([0, 1, 2, byte])

test('A3: an answer with markers names the files that have them, as JSON and as text', async () => {
  const { user, read } = await worked({ f: lines() }, [{ f: lines({ 18: 'agent' }), new: 'agent\n' }])
  user.write('f', lines({ 18: 'mine' }))
  user.write('new', 'mine\n')
  user.git('add', 'new')
  const both = [
    { path: 'f', kind: 'content' },
    { path: 'new', kind: 'add/add' },
  ]
  const preview = await offshoot(user, 'accept', 'T1', '--conflicts', 'markers', '--dry-run', '--json')
  expect(preview.json.preview).toMatchObject({ clean: false, conflicts: [], marked: both })
  const asked = await offshoot(user, 'accept', 'T1', '--conflicts', 'markers', '--json')
  expect([asked.code, asked.json.conflicts]).toEqual([0, both])
  expect(read('new')).toBe('<<<<<<< yours\nmine\n=======\nagent\n>>>>>>> T1\n')
  await offshoot(user, 'undo')
  const told = await offshoot(user, 'accept', 'T1', '--conflicts', 'markers')
  expect(told.stdout).toContain('conflict to resolve: f (content)')
  expect(told.stdout).toContain('conflict to resolve: new (add/add)')
})

test.each([
  {
    what: 'a binary file',
    kind: 'content',
    its: (file: string) => writeFileSync(file, binary(3)),
    mine: (file: string) => writeFileSync(file, binary(4)),
  },
  {
    what: 'a link',
    kind: 'content',
    its: (file: string) => (rmSync(file), symlinkSync('agent', file)),
    mine: (file: string) => (rmSync(file), symlinkSync('mine', file)),
  },
  {
    what: 'a file that the agent deleted',
    kind: 'delete/modify',
    its: (file: string) => rmSync(file),
    mine: (file: string) => writeFileSync(file, 'mine\n'),
  },
  {
    what: 'a file that the user deleted',
    kind: 'delete/modify',
    its: (file: string) => writeFileSync(file, 'agent\n'),
    mine: (file: string) => rmSync(file),
  },
])('A3: $what is no place for markers: it stays a conflict, and nothing is written', async (row) => {
  const { user, repo, at } = await worked({ f: lines(), odd: 'odd\n' }, [{ f: lines({ 18: 'agent' }) }])
  user.write('f', lines({ 18: 'mine' }))
  row.its(at('odd'))
  row.mine(path.join(user.dir, 'odd'))
  const before = checkoutState(user)
  const { code, json } = await offshoot(user, 'accept', 'T1', '--conflicts', 'markers', '--json')
  expect(code).toBe(4)
  expect(json.error.data.conflicts).toEqual([{ path: 'odd', kind: row.kind }])
  expect(checkoutState(user)).toEqual(before)
  expect((await repo.find('T1'))?.state).toBe('active')
})

test('A3: a file in the place of a folder is no place for markers either', async () => {
  const { user, at } = await worked({ odd: 'odd\n' })
  rmSync(at('odd'))
  mkdirSync(at('odd'))
  writeFileSync(at('odd/inside'), 'inside\n')
  user.write('odd', '<<<<<<< yours\n')
  const before = checkoutState(user)
  const { code, json } = await offshoot(user, 'accept', 'T1', '--conflicts', 'markers', '--json')
  expect([code, checkoutState(user)]).toEqual([4, before])
  expect(json.error.data.conflicts).toEqual([{ path: 'odd', kind: 'delete/modify' }])
  const updated = await offshoot(user, 'update', 'T1', '--dirty', '--conflicts', 'markers', '--json')
  expect(updated.json.conflicts).toEqual([{ path: 'odd~yours', kind: 'delete/modify' }])
  expect(existsSync(at('odd~yours'))).toBe(true)
})

test.each([
  { what: 'file', kind: 'untracked', put: (file: string) => writeFileSync(file, 'mine\n') },
  { what: 'link', kind: 'symlink', put: (file: string) => symlinkSync('.', file) },
])('A3: a $what that git does not know, in the place of a folder, is $kind', async ({ kind, put }) => {
  const { user, at } = await worked({ f: lines() })
  mkdirSync(at('folder'))
  writeFileSync(at('folder/inside'), 'inside\n')
  put(path.join(user.dir, 'folder'))
  const before = checkoutState(user)
  const { code, json } = await offshoot(user, 'accept', 'T1', '--json')
  expect([code, json.error.data.conflicts]).toEqual([4, [{ path: 'folder', kind }]])
  expect(checkoutState(user)).toEqual(before)
})

test('I5: the hint of a conflict names a way out that there is', async () => {
  const { user, repo, at } = await worked({ f: lines(), odd: 'odd\n' }, [{ f: lines({ 18: 'agent' }) }])
  const hintOf = async (...args: string[]) => (await offshoot(user, ...args, '--json')).json.error.hint
  user.write('f', lines({ 18: 'mine' }))
  expect(await hintOf('accept', 'T1')).toMatch(
    /^offshoot update T1 --dirty --conflicts.*; offshoot accept T1 --conflicts markers/,
  )
  expect(await hintOf('accept', 'T1', '--as', 'squash')).toMatch(/^Commit your changes to those files/)
  user.git('commit', '--quiet', '--all', '--message=mine')
  expect(await hintOf('accept', 'T1', '--as', 'squash')).toMatch(
    /^offshoot update T1 --conflicts markers [^;]*$/,
  )
  expect(await hintOf('update', 'T1')).toMatch(
    /^Repeat with --conflicts markers, which writes the conflicts into the workspace/,
  )
  writeFileSync(at('odd'), binary(3))
  user.write('odd', binary(4))
  expect(await hintOf('accept', 'T1', '--conflicts', 'markers')).toMatch(/^offshoot update T1 --dirty [^;]*$/)
  const { operation = '' } = await repo.accept({ task: 'T1', only: ['f'], conflicts: 'markers' })
  user.write('f', 'all mine\n')
  expect(await hintOf('undo', operation)).toBe('What came later overlaps: take that back first.')
})
