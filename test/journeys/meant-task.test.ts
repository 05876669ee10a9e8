/** Which task an id means, what a closed one answers, and which options of an open one come too late. */
import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { inFolder } from '../support/workspace.ts'

async function accepted() {
  const user = testRepo({ a: 'one\n' })
  await offshoot(user, 'start', 'T1')
  await offshoot(user, 'exec', 'T1', '--', 'sh', '-c', 'echo new > b')
  const { json } = await offshoot(user, 'accept', 'T1', '--json')
  const operation = json.operation as string
  return { user, operation, short: operation.slice(0, 6) }
}

test('L2: an open task answers to its id in every verb, also when a closed one of that id is newer', async () => {
  const { user, operation } = await accepted()
  await offshoot(user, 'start', 'T1')
  await offshoot(user, 'reject', 'T1')
  const { slug, path: at } = (await offshoot(user, 'undo', operation, '--json')).json.task
  const ok = async (...line: string[]) => {
    const { code, json } = await offshoot(user, ...line)
    expect([line[0], code]).toEqual([line[0], 0])
    if (json.task) expect([line[0], json.task.slug]).toEqual([line[0], slug])
    return json
  }
  expect((await ok('log', 'T1', '--json')).checkpoints).toHaveLength(1)
  expect((await ok('diff', 'T1', '--json')).files).toHaveLength(1)
  expect((await ok('cd', 'T1', '--json')).path).toBe(at)
  await ok('show', 'T1', '--json')
  await ok('exec', 'T1', '--json', '--', 'true')
  await ok('checkpoint', 'T1', '--json')
  await ok('update', 'T1', '--json')
  await ok('rewind', 'T1', '--to', '0', '--json')
  for (const line of [
    ['accept', 'T1'],
    ['reject', 'T1'],
    ['worktree', 'remove', 'T1', '--force'],
    ['delete', 'T1'],
  ]) {
    const { operation: closing } = await ok(...line, '--json')
    await ok('undo', closing, '--json')
  }
})

describe('I5: a closed task says what became of it', () => {
  test('when, by which operation, and how to undo that', async () => {
    const { user, short } = await accepted()
    const again = await offshoot(user, 'accept', 'T1')
    expect(again.code).toBe(3)
    expect(again.stderr).toMatch(
      new RegExp(
        `The task T1 is closed: it was accepted on \\d{4}-\\d\\d-\\d\\d at \\d\\d:\\d\\d UTC, by operation ${short}\\.`,
      ),
    )
    expect(again.stderr).toContain(`hint: offshoot undo ${short} opens it again.`)
    expect(await offshoot(user, 'undo', short)).toMatchObject({ code: 0 })
    expect(await offshoot(user, 'accept', 'T1')).toMatchObject({ code: 0 })
  })

  test('cd names the undo that brings the workspace back', async () => {
    const { user, short } = await accepted()
    const gone = await offshoot(user, 'cd', 'T1')
    expect([gone.code, gone.stderr]).toEqual([
      3,
      expect.stringContaining('T1 was accepted, and its workspace is gone.'),
    ])
    expect(gone.stderr).toContain(`hint: offshoot undo ${short} opens T1 again`)
    await offshoot(user, 'undo', short)
    expect(existsSync((await offshoot(user, 'cd', 'T1')).stdout.trim())).toBe(true)
  })

  test('an undo after a new start of the id names the new task, and works once that is closed', async () => {
    const { user, short } = await accepted()
    await offshoot(user, 'start', 'T1')
    const refused = await offshoot(user, 'undo', short)
    expect([refused.code, refused.stderr]).toEqual([
      5,
      expect.stringContaining('A new task T1 was started since, and is open.'),
    ])
    expect(refused.stderr).toContain('offshoot reject T1')
    await offshoot(user, 'reject', 'T1')
    expect(await offshoot(user, 'undo', short)).toMatchObject({ code: 0 })
  })

  test('of a run with --cleanup it names the branch that has the work, and no command that fails', async () => {
    const user = testRepo({ a: 'one\n' })
    const ran = await offshoot(user, 'run', '--task', 'W', '--cleanup', '--', 'sh', '-c', 'echo new > b')
    expect(ran.stderr).toMatch(/offshoot diff W {4}git merge offshoot\/W {4}offshoot undo \w{6}/)
    expect(ran.stderr).not.toMatch(/offshoot (accept|resume|reject) W/)
    const closed = await offshoot(user, 'accept', 'W')
    expect(closed.stderr).toContain('git merge offshoot/W lands it')
    const taken = await offshoot(user, 'start', 'W')
    expect([taken.code, taken.stderr]).toEqual([5, expect.stringContaining('--existing-branch offshoot/W')])
    expect(await offshoot(user, 'start', 'W', '--existing-branch', 'offshoot/W')).toMatchObject({ code: 0 })
    await offshoot(user, 'reject', 'W')
    user.git('merge', '--quiet', 'offshoot/W')
    expect(existsSync(path.join(user.dir, 'b'))).toBe(true)
  })
})

describe('L2: an option that an open task cannot honour is refused, and one that agrees is not', () => {
  test.each([
    ['--from', 'other'],
    ['--from', 'nosuch'],
    ['--isolation', 'clone'],
    ['--title', 'Another'],
    ['--dirty'],
    ['--branch', 'another'],
  ])('start T1 %s %s', async (...options) => {
    const user = testRepo({ a: 'one\n' })
    user.git('branch', 'other')
    user.git('commit', '--quiet', '--allow-empty', '--message=Second')
    await offshoot(user, 'start', 'T1', '--title', 'Do it')
    user.write('a', 'mine\n')
    const refused = await offshoot(user, 'start', 'T1', ...options, '--json')
    expect([refused.code, refused.json.error.code]).toEqual([5, 'WT_013'])
    expect(refused.json.error.hint).toContain('T1')
    const again = ['--from', 'main', '--isolation', 'worktree', '--title', 'Do it']
    const reused = await offshoot(user, 'start', 'T1', ...again, '--json')
    expect([reused.code, reused.json.reused]).toEqual([0, true])
  })

  test('a task that was started with --dirty may be so again', async () => {
    const user = testRepo({ a: 'one\n' })
    user.write('a', 'mine\n')
    await offshoot(user, 'start', 'T1', '--dirty')
    const again = await offshoot(user, 'start', 'T1', '--dirty', '--json')
    expect([again.code, again.json.reused]).toEqual([0, true])
  })
})

describe('P3: an undo finds its repository by the record, wherever it is typed', () => {
  test.each(['accept', 'reject'])('in the folder that %s has moved into the trash', async (verb) => {
    const user = testRepo({ a: 'one\n' })
    const { json } = await offshoot(user, 'start', 'T1', '--json')
    const at = json.task.path as string
    writeFileSync(path.join(at, 'b'), 'new\n')
    // The shell stays in the folder while that is renamed.
    const done = await shellIn(inFolder(user, at), `"$@" ${verb}; "$@" undo`)
    expect(done.stdout).toContain(`this folder has gone into the trash: cd ${user.dir}`)
    expect(done.stdout).toContain(`Undid ${verb} of T1`)
    expect(done.code).toBe(0)
    expect(existsSync(path.join(at, 'b'))).toBe(true)
  })

  test('outside of every repository', async () => {
    const { user, short } = await accepted()
    const outside = await offshoot(inFolder(user, user.home), 'undo', short)
    expect([outside.code, outside.stdout]).toEqual([
      0,
      expect.stringContaining('Undid accept of T1 (1 file)'),
    ])
    expect(existsSync(path.join(user.dir, 'b'))).toBe(false)
    expect((await offshoot(inFolder(user, user.home), 'undo')).code).toBe(6)
  })

  test('a command with -C, or outside of the workspace, has no folder to leave', async () => {
    const { user } = await accepted()
    const { stdout } = await offshoot(user, 'start', 'T2', '--json')
    const at = JSON.parse(stdout).task.path as string
    expect((await offshoot(user, '-C', at, 'reject')).stdout).not.toContain('gone into the trash')
  })
})

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

/** Runs lines of a shell, in which "$@" is the command. */
function shellIn(at: TestRepo, script: string): Promise<{ code: number | null; stdout: string }> {
  return new Promise((resolve, reject) => {
    const args = ['-c', script, 'sh', process.execPath, bin]
    const child = spawn('sh', args, { cwd: at.dir, env: at.env, stdio: ['ignore', 'pipe', 'inherit'] })
    let stdout = ''
    child.stdout.on('data', (chunk) => (stdout += chunk))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout }))
  })
}
