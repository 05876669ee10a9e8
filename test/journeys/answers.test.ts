/** I5: what the commands answer when something is not as the user thinks, and that their hints lead somewhere. */
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkoutState } from '../support/checkout-state.ts'
import { offshoot, tempFolder, testRepo } from '../support/repo.ts'
import { inFolder, withEnv } from '../support/workspace.ts'
import { lines, worked } from '../support/worked.ts'

describe('I5: a hint names what is meant', () => {
  test('the task, the step, the file or the command that was probably meant', async () => {
    const { user } = await worked({ f: 'one\n' }, [{ f: 'two\n' }])
    await offshoot(user, 'start', 'fix-cors')
    const hintOf = async (...line: string[]) => (await offshoot(user, ...line, '--json')).json.error.hint
    expect(await hintOf('accept', 'fixcors')).toContain('Did you mean fix-cors?')
    expect(await hintOf('accept', 'T1', '--only', 'nosuch.ts')).toBe(
      'offshoot diff T1 --name-only lists the changed files.',
    )
    expect(await hintOf('rewind', 'T1', '--to', '7')).toBe('offshoot log T1 lists the steps.')
    expect(await hintOf('compare', 'T1', 'T1')).toBe('offshoot list shows the tasks; name two of them.')
    expect(await hintOf('rm', 'T1')).toMatch(/offshoot reject.*offshoot delete.*offshoot worktree remove/)
    const none = await offshoot(user, 'exec', 'T1', '--', 'nosuchcmd')
    expect(none.stderr).not.toContain('offshoot list')
  })

  test('the option that was wrong', async () => {
    const user = testRepo()
    const told = async (...line: string[]) => (await offshoot(user, ...line, '--json')).json.error
    expect(await told('start', 'T1', '--existing-branch', 'nope')).toMatchObject({
      code: 'WT_010',
      hint: 'git branch lists the branches that --existing-branch can name.',
    })
    expect(await told('worktree', 'prune', '--hours', 'x')).toMatchObject({
      code: 'WT_019',
      message: '--hours takes a number, not "x".',
      hint: expect.stringContaining('--hours 12'),
    })
  })

  test('L11: past the limit of open tasks it names reject and the setting, and either helps', async () => {
    const user = withEnv(testRepo(), { OFFSHOOT_LIMITS_PER_REPO: '1' })
    await offshoot(user, 'start', 'T1')
    const refused = await offshoot(user, 'start', 'T2', '--json')
    expect(refused.json.error).toMatchObject({
      code: 'WT_003',
      hint: expect.stringMatching(/reject.*limits\.perRepo/),
    })
    const { stdout } = await offshoot(user, 'config', '--show-origin')
    expect(stdout).toMatch(/limits\.perRepo.*OFFSHOOT_LIMITS_PER_REPO/)
    await offshoot(user, 'reject', 'T1')
    expect(await offshoot(user, 'start', 'T2')).toMatchObject({ code: 0 })
  })

  test('A3: a squash onto a dirty checkout is told to commit or to land as a patch, and both work', async () => {
    const { user, at, read } = await worked({ f: lines() }, [{ f: lines({ 5: 'agent' }) }])
    user.write('f', lines({ 12: 'mine' }))
    const refused = await offshoot(user, 'accept', 'T1', '--as', 'squash')
    expect(refused.stderr).toMatch(/hint: Commit your changes to those files.*offshoot accept T1 --as patch/)
    expect(await offshoot(user, 'accept', 'T1', '--as', 'patch')).toMatchObject({ code: 0 })
    expect(read('f')).toBe(lines({ 5: 'agent', 12: 'mine' }))
    await offshoot(user, 'undo')
    user.write('f', lines({ 5: 'mine' }))
    await offshoot(user, 'update', 'T1', '--dirty', '--conflicts', 'markers')
    writeFileSync(at('f'), lines({ 5: 'both' }))
    const again = await offshoot(user, 'accept', 'T1', '--as', 'squash')
    expect(again.stderr).toContain('hint: T1 was updated to your uncommitted changes. Commit them first')
    user.git('commit', '--quiet', '--all', '--message=Mine')
    expect(await offshoot(user, 'accept', 'T1', '--as', 'squash')).toMatchObject({ code: 0 })
    expect(read('f')).toBe(lines({ 5: 'both' }))
  })

  test('A3: a dry run of what would not land has a hint, and never says that it would', async () => {
    const { user } = await worked({ f: lines() }, [{ f: lines({ 5: 'agent' }), 'key.pem': 'x\n' }])
    user.write('f', lines({ 5: 'mine' }))
    const { code, stdout } = await offshoot(user, 'accept', 'T1', '--dry-run')
    expect([code, stdout]).toEqual([0, expect.stringContaining('T1 would not land')])
    expect(stdout).not.toContain('would land')
    expect(stdout).toMatch(/hint: .*--allow key\.pem.*offshoot update T1 --dirty --conflicts markers/)
  })
})

describe('I5: an answer says what was done', () => {
  test('accept of a task without changes says that there was nothing to land', async () => {
    const user = testRepo()
    await offshoot(user, 'run', '--task', 'T1', '--', 'true')
    const { stdout, json } = await offshoot(user)
    expect([stdout, json]).toEqual([expect.stringMatching(/^T1 +done, nothing changed/), undefined])
    expect((await offshoot(user, 'accept', 'T1', '--dry-run')).stdout).toBe('T1 has nothing to land\n')
    const accepted = await offshoot(user, 'accept', 'T1', '--as', 'squash')
    expect(accepted.stdout).toMatch(/^Accepted T1 as squash: there was nothing to land\n/)
  })

  test('undo of a rewind counts the files of the workspace that it changed', async () => {
    const { user } = await worked({ a: '1\n', b: '1\n', c: '1\n' }, [{ a: '2\n', b: '2\n', c: '2\n' }])
    await offshoot(user, 'rewind', 'T1', '--to', '0')
    const { stdout } = await offshoot(user, 'undo')
    expect(stdout).toMatch(/^Undid rewind of T1 \(3 files\)\n/)
  })

  test('L12: start on a shadow branch says what it put away, and so does show', async () => {
    const user = testRepo({ a: 'one\n' })
    user.write('a', 'mine\n')
    user.write('new', 'mine\n')
    const before = checkoutState(user)
    const started = await offshoot(user, 'start', 'T1', '--isolation', 'branch')
    expect(started.stdout).toContain(
      'put away: your uncommitted changes in 2 files; accept and reject bring them back',
    )
    expect((await offshoot(user, 'show', 'T1')).stdout).toMatch(/^put away +your changes in 2 files/m)
    expect((await offshoot(user, 'show', 'T1', '--json')).json.putAway).toBe(2)
    await offshoot(user, 'reject', 'T1')
    expect(checkoutState(user)).toEqual(before)
    const clean = testRepo({ a: 'one\n' })
    expect((await offshoot(clean, 'start', 'T1', '--isolation', 'branch')).stdout).not.toContain('put away')
  })
})

describe('R7: a repository that is not as it was says so', () => {
  test('list and exec in a moved one name the old place, and repair brings its tasks', async () => {
    const { user, repo } = await worked({ f: 'one\n' }, [{ f: 'two\n' }])
    await repo.close()
    const there = path.join(user.home, 'elsewhere')
    renameSync(user.dir, there)
    const moved = inFolder(user, there)
    const { stderr } = await offshoot(moved, 'list')
    expect(stderr).toContain(`This repository was at ${user.dir} before.`)
    expect((await offshoot(moved, 'list', '--json')).json).toMatchObject({ tasks: [], movedFrom: user.dir })
    const none = await offshoot(moved, 'exec', 'T1', '--', 'true')
    expect([none.code, none.stderr]).toEqual([3, expect.stringContaining(`which was at ${user.dir} before`)])
    expect(none.stderr).toContain('hint: offshoot repair')
    await offshoot(moved, 'repair')
    expect(await offshoot(moved, 'exec', 'T1', '--', 'true')).toMatchObject({ code: 0 })
  })

  test('a copy is no moved one', async () => {
    const { user, repo } = await worked({ f: 'one\n' }, [])
    await repo.close()
    const there = path.join(user.home, 'copy')
    cpSync(user.dir, there, { recursive: true })
    expect((await offshoot(inFolder(user, there), 'list', '--json')).json).toEqual({
      ok: true,
      tasks: [],
      seq: expect.any(Number),
    })
  })

  test('exec and squash of a task whose repository was made anew say what is, and accept lands its work', async () => {
    const { user, repo, read } = await worked({ f: 'one\n' }, [{ g: 'new\n' }])
    await repo.close()
    rmSync(path.join(user.dir, '.git'), { recursive: true })
    user.git('init', '--quiet', '--initial-branch=main')
    user.git('commit', '--quiet', '--allow-empty', '--message=Another')
    for (const line of [
      ['exec', 'T1', '--json', '--', 'true'],
      ['accept', 'T1', '--as', 'squash', '--json'],
    ]) {
      const { json } = await offshoot(user, ...line)
      expect(json.error).toMatchObject({
        code: 'WT_010',
        message: expect.stringContaining('the repository was made anew, or lost it'),
        hint: expect.stringMatching(/offshoot accept T1.*offshoot reject T1/),
      })
    }
    expect(await offshoot(user, 'accept', 'T1')).toMatchObject({ code: 0 })
    expect(read('g')).toBe('new\n')
  })

  test('P3: an undo in a repository that was made anew changes nothing, and leaves no lock', async () => {
    const { user, repo } = await worked({ f: 'one\n' }, [{ g: 'new\n' }])
    const { operation } = await repo.accept({ task: 'T1' })
    await repo.close()
    rmSync(path.join(user.dir, '.git'), { recursive: true })
    user.git('init', '--quiet', '--initial-branch=main')
    user.git('add', '--all')
    user.git('commit', '--quiet', '--message=Another')
    const before = checkoutState(user)
    expect((await offshoot(user, 'undo', operation ?? '', '--json')).json.error).toMatchObject({
      code: 'WT_010',
    })
    expect(checkoutState(user)).toEqual(before)
    expect(existsSync(path.join(user.dir, '.git/index.lock'))).toBe(false)
    expect(await offshoot(user, 'start', 'T2')).toMatchObject({ code: 0 })
  })

  test('a branch that was renamed by hand is told, and repair goes back to it', async () => {
    const { user, repo, task } = await worked({ f: 'one\n' }, [{ f: 'two\n' }])
    await repo.close()
    user.git('branch', '--move', task.branch, 'my')
    const own = inFolder(user, task.path)
    await offshoot(user, 'exec', 'T1', '--', 'sh', '-c', 'echo new > g')
    expect((await offshoot(user, 'show', 'T1', '--json')).json.otherBranch).toBe('my')
    expect((await offshoot(user, 'show', 'T1')).stdout).toContain('offshoot repair T1')
    const { json } = await offshoot(user, 'doctor', '--json')
    const told = (json.checks as { status: string; message: string }[]).filter(
      ({ status }) => status !== 'ok',
    )
    expect(told.map(({ message }) => message)).toEqual([
      `its workspace is on the branch my, not on ${task.branch}`,
    ])
    await offshoot(user, 'repair')
    expect(own.git('status', '--short', '--branch')).toBe(`## ${task.branch}\n`)
    expect(user.git('branch', '--list', 'my')).toContain('my')
    expect((await offshoot(user, 'show', 'T1', '--json')).json).not.toHaveProperty('otherBranch')
  })
})

describe('A3: what is in the place of a folder', () => {
  test('an empty folder, or a folder of empty ones, where the agent puts a file: the file lands, and the undo takes it away', async () => {
    const { user, read } = await worked({ f: 'one\n' }, [{ d: 'file\n' }])
    mkdirSync(path.join(user.dir, 'd'))
    expect(await offshoot(user, 'accept', 'T1')).toMatchObject({ code: 0 })
    expect(read('d')).toBe('file\n')
    expect(await offshoot(user, 'undo')).toMatchObject({ code: 0 })
    expect(user.git('status', '--short')).toBe('')
    mkdirSync(path.join(user.dir, 'd/e/f'), { recursive: true })
    expect(await offshoot(user, 'accept', 'T1', '--as', 'squash')).toMatchObject({ code: 0 })
    expect(read('d')).toBe('file\n')
  })

  test('a link that leads outside, where the agent deleted a file: it is a conflict, as with every other change', async () => {
    const { user, at } = await worked({ f: 'one\n' }, [])
    mkdirSync(at('d'))
    writeFileSync(at('d/x'), 'x\n')
    writeFileSync(at('d/y'), 'y\n')
    await offshoot(user, 'accept', 'T1', '--as', 'squash', '--keep')
    rmSync(at('d/x'))
    const outside = tempFolder()
    writeFileSync(path.join(outside, 'x'), 'outside\n')
    rmSync(path.join(user.dir, 'd'), { recursive: true })
    symlinkSync(outside, path.join(user.dir, 'd'))
    const { code, json } = await offshoot(user, 'accept', 'T1', '--json')
    expect([code, json.error.data]).toEqual([4, { conflicts: [{ path: 'd', kind: 'symlink' }] }])
    expect(existsSync(path.join(outside, 'x'))).toBe(true)
  })

  test('A1: the user renamed a file again and again and into a folder, and the agent edited it', async () => {
    const { user, read } = await worked({ c: lines(), other: 'other\n' }, [{ c: lines({ 15: 'agent' }) }])
    const at = (name: string) => path.join(user.dir, name)
    renameSync(at('c'), at('b'))
    renameSync(at('b'), at('a'))
    mkdirSync(at('d'))
    renameSync(at('a'), at('d/a'))
    expect(await offshoot(user, 'accept', 'T1')).toMatchObject({ code: 0 })
    expect(read('d/a')).toBe(lines({ 15: 'agent' }))
    expect(existsSync(at('c'))).toBe(false)
  })
})
