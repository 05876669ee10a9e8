import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
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

describe('A13: conflict markers that the work adds do not land', () => {
  const conflict = ['<<<<<<< T1', 'agent', '=======', 'mine', '>>>>>>> main', ''].join('\n')

  test.each(['patch', 'squash', 'merge', 'rebase', 'keep-branch'] as const)(
    'as %s, unless they are allowed',
    async (as) => {
      const { user } = await worked({ f: lines() }, [{ f: `${lines()}${conflict}` }])
      const before = checkoutState(user)
      const refused = await offshoot(user, 'accept', 'T1', '--as', as, '--json')
      expect([refused.code, refused.json.error]).toMatchObject([
        4,
        {
          code: 'WT_011',
          message: expect.stringContaining('f still has conflict markers (line 21)'),
          data: { conflicts: [{ path: 'f', kind: 'markers', line: 21 }] },
        },
      ])
      expect(refused.json.error.hint).toContain('--allow f')
      expect(checkoutState(user)).toEqual(before)
      expect(await offshoot(user, 'accept', 'T1', '--as', as, '--allow', 'f')).toMatchObject({ code: 0 })
    },
  )

  test('an update leaves them, a dry run says so, and what was resolved lands', async () => {
    const { user, at, read } = await worked({ f: lines() }, [{ f: lines({ 5: 'agent' }) }])
    user.write('f', lines({ 5: 'mine' }))
    user.git('commit', '--quiet', '--all', '--message=Mine')
    await offshoot(user, 'update', 'T1', '--conflicts', 'markers')
    const preview = await offshoot(user, 'accept', 'T1', '--as', 'squash', '--dry-run')
    expect(preview).toMatchObject({ code: 0 })
    expect(preview.stdout).toContain('T1 would not land')
    expect(preview.stdout).toContain('f still has conflict markers (line 5)')
    expect(preview.stdout).toContain('--allow f')
    const { json } = await offshoot(user, 'accept', 'T1', '--as', 'squash', '--dry-run', '--json')
    expect(json).toMatchObject({
      ok: true,
      preview: { clean: false, conflicts: [{ path: 'f', kind: 'markers' }] },
    })
    writeFileSync(at('f'), lines({ 5: 'both' }))
    expect(await offshoot(user, 'accept', 'T1', '--as', 'squash')).toMatchObject({ code: 0 })
    expect(read('f')).toBe(lines({ 5: 'both' }))
  })

  test('a file that had such a set, was renamed, or has a part of one lands', async () => {
    const doc = `# Conflicts\n\n${conflict}`
    const { user, at, read } = await worked({ 'doc.md': doc, old: `old\n${conflict}` }, [
      {
        'doc.md': doc.replace('agent', 'theirs').replace('# Conflicts', '# Conflicts\n\nMore.'),
        'heading.rst': 'Title\n=======\n',
        'test.ts': "  const text = '<<<<<<< a'\n=======\n  >>>>>>> b\n",
        new: `old\n${conflict}`,
      },
    ])
    rmSync(at('old'))
    expect(await offshoot(user, 'accept', 'T1')).toMatchObject({ code: 0, stderr: '' })
    expect(read('doc.md')).toContain('More.')
    expect(existsSync(path.join(user.dir, 'old'))).toBe(false)
  })
})
