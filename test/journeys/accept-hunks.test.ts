import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { checkoutState } from '../support/checkout-state.ts'
import { offshoot } from '../support/repo.ts'
import { lines, worked } from '../support/worked.ts'

const two = { f: lines({ 2: 'first', 18: 'second' }) }

async function hunksOf({ repo }: Awaited<ReturnType<typeof worked>>) {
  return (await repo.diff({ task: 'T1', hunks: true })).hunks ?? []
}

test('A5: chosen hunks land alone; the task stays open, and the next accept lands the rest', async () => {
  const here = await worked({ f: lines() }, [two])
  const { repo, user, read } = here
  const [first, second] = await hunksOf(here)
  expect(first).toMatchObject({ path: 'f', oldStart: 1, oldLines: 5, newStart: 1, newLines: 5 })
  expect(second).toMatchObject({ insertions: 1, deletions: 1, header: '@@ -15,6 +15,6 @@ line 14' })
  const before = checkoutState(user)
  const { operation } = await repo.accept({ task: 'T1', hunks: [second!.id] })
  expect(read('f')).toBe(lines({ 18: 'second' }))
  expect((await repo.find('T1'))?.state).toBe('active')
  expect(await hunksOf(here)).toEqual([first])
  await repo.undo(operation)
  expect(checkoutState(user)).toEqual(before)
  await repo.accept({ task: 'T1', hunks: [first!.id] })
  expect(read('f')).toBe(lines({ 2: 'first' }))
  await repo.accept({ task: 'T1' })
  expect(read('f')).toBe(two.f)
  expect((await repo.find('T1'))?.state).toBe('accepted')
})

test('A5: all hunks at once are the whole, and the task is closed', async () => {
  const here = await worked({ f: lines() }, [two, { new: 'new\n' }])
  await here.repo.accept({ task: 'T1', hunks: (await hunksOf(here)).map(({ id }) => id) })
  expect([here.read('f'), here.read('new')]).toEqual([two.f, 'new\n'])
  expect((await here.repo.find('T1'))?.state).toBe('accepted')
})

test('A5: squash makes one commit of chosen hunks, and the next one of the rest', async () => {
  const here = await worked({ f: lines() }, [two])
  const { repo, user } = here
  const [, second] = await hunksOf(here)
  await repo.accept({ task: 'T1', as: 'squash', message: 'A part', hunks: [second!.id] })
  expect(user.git('show', 'HEAD:f')).toBe(lines({ 18: 'second' }))
  await repo.accept({ task: 'T1', as: 'squash', message: 'The rest' })
  expect(user.git('show', 'HEAD:f')).toBe(two.f)
  expect(user.git('log', '--format=%s')).toBe('The rest\nA part\nFirst commit\n')
  expect(user.git('status', '--porcelain')).toBe('')
})

test('A5: a hunk that landed, or that has changed since, is refused by its id and nothing is written', async () => {
  const here = await worked({ f: lines() }, [two])
  const { repo, user, at } = here
  const [first, second] = await hunksOf(here)
  await repo.accept({ task: 'T1', hunks: [second!.id] })
  writeFileSync(at('f'), lines({ 2: 'first, and more', 18: 'second' }))
  const before = checkoutState(user)
  for (const stale of [first!.id, second!.id]) {
    await expect(repo.accept({ task: 'T1', hunks: [stale] })).rejects.toMatchObject({
      code: 'WT_005',
      data: { hunks: [stale] },
    })
  }
  expect(checkoutState(user)).toEqual(before)
})

test('A5: of two hunks with the same words each is named by itself', async () => {
  const [plain, edited] = [lines({}, 12), lines({ 6: 'edited' }, 12)]
  const here = await worked({ f: plain + plain }, [{ f: edited + edited }])
  const [first, second] = await hunksOf(here)
  expect(first!.id).not.toBe(second!.id)
  await here.repo.accept({ task: 'T1', hunks: [second!.id] })
  expect(here.read('f')).toBe(plain + edited)
  await expect(here.repo.accept({ task: 'T1', hunks: [second!.id] })).rejects.toMatchObject({
    code: 'WT_005',
  })
})

test('K5: line ends, a last line without one, and names that git quotes come through byte for byte', async () => {
  const crlf = (text: string) => text.replaceAll('\n', '\r\n')
  const name = 'ä "quoted"\t.txt'
  const here = await worked({ [name]: crlf(lines()), end: lines().trimEnd() }, [
    {
      [name]: crlf(lines({ 2: 'first', 18: 'second' })).trimEnd(),
      end: lines({ 3: 'x', 20: 'with a line end' }),
    },
  ])
  const hunks = await hunksOf(here)
  expect(hunks.map((hunk) => hunk.path)).toEqual(['end', 'end', name, name])
  await here.repo.accept({ task: 'T1', hunks: [hunks[1]!.id, hunks[3]!.id] })
  expect(here.read('end')).toBe(lines({ 20: 'with a line end' }))
  expect(here.read(name)).toBe(crlf(lines({ 18: 'second' })).trimEnd())
  await here.repo.accept({ task: 'T1', hunks: [hunks[0]!.id, hunks[2]!.id] })
  expect(here.read('end')).toBe(lines({ 3: 'x', 20: 'with a line end' }))
  expect(here.read(name)).toBe(crlf(lines({ 2: 'first', 18: 'second' })).trimEnd())
})

test('A5: conversions count for a part as for the whole: raw in the checkout, converted in the commit', async () => {
  const crlf = (text: string) => text.replaceAll('\n', '\r\n')
  const here = await worked({ '.gitattributes': '*.x eol=crlf\n', 'f.x': lines() }, [
    { 'f.x': crlf(lines({ 2: 'first', 18: 'second' })) },
  ])
  const [, second] = await hunksOf(here)
  await here.repo.accept({ task: 'T1', as: 'squash', hunks: [second!.id] })
  expect(here.user.git('show', 'HEAD:f.x')).toBe(lines({ 18: 'second' }))
  expect(here.read('f.x')).toBe(crlf(lines({ 18: 'second' })))
  expect(here.user.git('status', '--porcelain')).toBe('')
})

test('A5: what is new, gone or binary is one hunk each, and so is a mode', async () => {
  const here = await worked({ run: lines(), gone: 'gone\n', bin: '\0\n' })
  const { repo, user, at } = here
  writeFileSync(at('run'), lines({ 2: 'first' }))
  chmodSync(at('run'), 0o755)
  rmSync(at('gone'))
  writeFileSync(at('bin'), Buffer.from([0, 1, 2, 10, 0]))
  writeFileSync(at('new'), 'one\ntwo\n')
  writeFileSync(at('empty'), '')
  await repo.checkpoint({ task: 'T1' })
  const hunks = await hunksOf(here)
  const found = hunks.map(({ path: name, header, insertions }) => [name, header, insertions])
  expect(found).toEqual([
    ['bin', 'changed as a whole', 0],
    ['empty', 'added', 0],
    ['gone', '@@ -1 +0,0 @@', 0],
    ['new', '@@ -0,0 +1,2 @@', 2],
    ['run', 'mode 100644 to 100755', 0],
    ['run', '@@ -1,5 +1,5 @@', 1],
  ])
  const idOf = (index: number) => hunks[index]!.id
  await repo.accept({ task: 'T1', hunks: [idOf(0), idOf(2), idOf(4)] })
  expect(readFileSync(path.join(user.dir, 'bin'))).toEqual(Buffer.from([0, 1, 2, 10, 0]))
  expect(['gone', 'new', 'empty'].map((name) => existsSync(path.join(user.dir, name)))).toEqual([
    false,
    false,
    false,
  ])
  expect(here.read('run')).toBe(lines())
  expect(statSync(path.join(user.dir, 'run')).mode & 0o111).toBe(0o111)
  await repo.accept({ task: 'T1' })
  expect([here.read('run'), here.read('new'), here.read('empty')]).toEqual([
    lines({ 2: 'first' }),
    'one\ntwo\n',
    '',
  ])
})

test('A5: hunks are against what the task was updated to, not against its start', async () => {
  const here = await worked({ f: lines() }, [two])
  const { repo, user } = here
  writeFileSync(path.join(user.dir, 'f'), lines({ 10: 'mine' }))
  user.git('commit', '-qam', 'mine')
  await repo.update({ task: 'T1' })
  const hunks = await hunksOf(here)
  expect(hunks).toHaveLength(2)
  await repo.accept({ task: 'T1', hunks: [hunks[1]!.id] })
  expect(here.read('f')).toBe(lines({ 10: 'mine', 18: 'second' }))
})

test('A5: hunks go with neither --only nor --step nor keep-branch', async () => {
  const here = await worked({ f: lines() }, [two])
  const hunks = (await hunksOf(here)).slice(0, 1).map(({ id }) => id)
  for (const more of [{ only: ['f'] }, { steps: [1] }, { as: 'keep-branch' as const }, { hunks: [] }]) {
    const refused = here.repo.accept({ task: 'T1', hunks, ...more })
    await expect(refused).rejects.toMatchObject({ code: 'WT_019' })
  }
})

test('I1: on the command line, a list of hunks goes from diff to accept through a file or a pipe', async () => {
  const { user, read } = await worked({ f: lines(), g: lines() }, [{ ...two, g: lines({ 4: 'in g' }) }])
  const listed = await offshoot(user, 'diff', 'T1', '--hunks')
  const rows = listed.stdout.trimEnd().split('\n')
  expect(rows).toHaveLength(3)
  expect(rows[2]).toMatch(/^[0-9a-f]{16} +g +\+1 -1 +@@ -1,7 \+1,7 @@$/)
  writeFileSync(path.join(user.home, 'list'), `${rows[2]}\n`)
  const landed = await offshoot(user, 'accept', 'T1', '--hunks', path.join(user.home, 'list'), '--json')
  expect(landed.json).toMatchObject({
    ok: true,
    accepted: { files: [{ path: 'g' }] },
    task: { state: 'active' },
  })
  expect([read('f'), read('g')]).toEqual([lines(), lines({ 4: 'in g' })])
  const { json } = await offshoot(user, 'diff', 'T1', '--json')
  expect(json.hunks.map((hunk: { path: string }) => hunk.path)).toEqual(['f', 'f'])
  const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
  const args = [bin, 'accept', 'T1', '--hunks', '-', '--json']
  const rest = execFileSync(process.execPath, args, {
    cwd: user.dir,
    env: user.env,
    input: JSON.stringify(json),
  })
  expect(JSON.parse(rest.toString())).toMatchObject({ ok: true, task: { state: 'accepted' } })
  expect(read('f')).toBe(two.f)
})

test('I5: a list that cannot be read, or is none, is told as such', async () => {
  const { user } = await worked({ f: lines() }, [two])
  expect((await offshoot(user, 'accept', 'T1', '--hunks', 'nowhere', '--json')).json.error.code).toBe(
    'WT_005',
  )
  expect((await offshoot(user, 'accept', 'T1', '--hunks', 'f', '--json')).json.error.code).toBe('WT_019')
  const piped = await offshoot(user, 'accept', 'T1', '--hunks', '-', '--json')
  expect(piped.json.error).toMatchObject({ code: 'WT_019', message: '--hunks names no hunk.' })
})
