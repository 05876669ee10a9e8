/** Running git: bytes, exit codes, cancellation, and a git that cannot be started. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { isRunning, until } from '../../test/support/processes.ts'
import { tempFolder, testRepo } from '../../test/support/repo.ts'
import { nodeFiles } from '../files/node.ts'
import { gitExec } from './exec.ts'
import { commandGit } from './index.ts'

const quiet = { recordChild: () => () => {} }

describe('gitExec', () => {
  test('I2: bytes go in and come out as they are', async () => {
    const repo = testRepo()
    const exec = gitExec({ env: repo.env, ...quiet })
    const at = { cwd: repo.dir, gitDir: path.join(repo.dir, '.git') }
    const bytes = Buffer.from([0, 255, 254, 10, 13, 0, 128])
    const { stdout } = await exec({ args: ['hash-object', '-w', '--stdin'], stdin: bytes, ...at })
    const chunks: Buffer[] = []
    const args = ['cat-file', 'blob', stdout.toString().trim()]
    expect((await exec({ args, ...at })).stdout).toEqual(bytes)
    expect((await exec({ args, ...at, onStdout: (chunk) => void chunks.push(chunk) })).stdout).toHaveLength(0)
    expect(Buffer.concat(chunks)).toEqual(bytes)
  })

  test('I5: an exit code is an answer only when it was expected', async () => {
    const repo = testRepo()
    const exec = gitExec({ env: repo.env, ...quiet })
    const call = { args: ['rev-parse', '--verify', '--quiet', 'none'], cwd: repo.dir }
    expect(await exec({ ...call, expect: [1] })).toMatchObject({ code: 1 })
    await expect(exec(call)).rejects.toMatchObject({ code: 'WT_020', data: { args: call.args } })
  })

  test('S4: git that is not there is told as such, and a folder that is not there is not', async () => {
    const missing = gitExec({ env: { PATH: tempFolder() }, ...quiet })
    await expect(missing({ args: ['version'], cwd: '/' })).rejects.toMatchObject({ code: 'WT_015' })
    const exec = gitExec({ env: process.env, ...quiet })
    // The second command waits at a gate, so a shell starts it.
    for (const args of [['version'], ['update-index', '--refresh']])
      await expect(exec({ args, cwd: '/nowhere' })).rejects.toMatchObject({
        code: 'WT_020',
        path: '/nowhere',
      })
  })

  test('L6: a child is on record for as long as it runs', async () => {
    const records: string[] = []
    const recordChild = (pid: number) => {
      expect(pid).toBeGreaterThan(1)
      records.push('recorded')
      return () => void records.push('forgotten')
    }
    await gitExec({ env: process.env, recordChild })({ args: ['version'], cwd: '/' })
    expect(records).toEqual(['recorded', 'forgotten'])
  })

  test('P2: a git that writes does not run before it is on record', async () => {
    const repo = testRepo()
    const indexFile = path.join(repo.home, 'index')
    const recordChild = () => {
      throw new Error('the disk is full')
    }
    const exec = gitExec({ env: repo.env, recordChild })
    const at = { cwd: repo.dir, gitDir: path.join(repo.dir, '.git'), indexFile }
    await expect(exec({ args: ['read-tree', 'HEAD'], ...at })).rejects.toThrow('the disk is full')
    await gitExec({ env: repo.env, ...quiet })({ args: ['ls-files'], ...at })
    expect(existsSync(indexFile)).toBe(false)
  })

  test.each([
    ['read-tree', 'HEAD'],
    ['update-index', '--refresh'],
    ['sparse-checkout', 'list'],
  ])('P2.9: git %s, which writes at once, waits behind a gate while it is recorded', async (...args) => {
    const repo = testRepo()
    const running: string[] = []
    const recordChild = (pid: number) => {
      running.push(readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0')[0] ?? '')
      return () => {}
    }
    const at = {
      cwd: repo.dir,
      gitDir: path.join(repo.dir, '.git'),
      indexFile: path.join(repo.home, 'index'),
    }
    await gitExec({ env: repo.env, recordChild })({ args, ...at, expect: [128] })
    expect(running).toEqual(['/bin/sh'])
  })

  test('S3: cancelling ends git and all that it started', async () => {
    const repo = testRepo()
    const pidFile = path.join(repo.home, 'pid')
    repo.git(
      'config',
      'alias.hang',
      `!echo $$ > '${pidFile}.new'; mv '${pidFile}.new' '${pidFile}'; exec tail -f /dev/null`,
    )
    const cancel = new AbortController()
    const exec = gitExec({ env: repo.env, ...quiet })
    const at = { cwd: repo.dir, gitDir: path.join(repo.dir, '.git'), signal: cancel.signal }
    const hanging = exec({ args: ['hang'], ...at }).catch((error: unknown) => error)
    await until(() => existsSync(pidFile), 'the alias runs')
    cancel.abort()
    expect(await hanging).toMatchObject({ code: 'WT_021' })
    await until(() => !isRunning(Number(readFileSync(pidFile, 'utf8'))), 'the alias has ended')
    await expect(exec({ args: ['version'], ...at })).rejects.toMatchObject({ name: 'AbortError' })
  })

  test('R5: a git that does not end when it is cancelled is killed, and its locks go', async () => {
    const repo = testRepo()
    const head = repo.git('rev-parse', 'HEAD').trim()
    const gitDir = path.join(repo.dir, '.git')
    const lock = path.join(gitDir, 'packed-refs.lock')
    const programs = tempFolder()
    writeFileSync(
      path.join(programs, 'git'),
      `#!/bin/sh\ntrap '' TERM\necho > '${lock}'\nwhile :; do sleep 0.1; done\n`,
      { mode: 0o755 },
    )
    const exec = gitExec({ env: { ...repo.env, PATH: `${programs}:${process.env.PATH}` }, ...quiet })
    const notes = { find: () => Promise.resolve(undefined), put: () => Promise.resolve() }
    const git = commandGit(exec, nodeFiles(), notes, repo.env)
    const place = { gitDir, commonDir: gitDir, checkout: repo.dir }
    const cancel = new AbortController()
    const gone = { ref: 'refs/heads/main', old: head, new: null }
    const hanging = git.changeRefs(place, [gone], 'gone', cancel.signal).catch((error: unknown) => error)
    await until(() => existsSync(lock), 'git has its lock')
    cancel.abort()
    expect(await hanging).toMatchObject({ code: 'WT_021', data: { killed: true } })
    expect(existsSync(lock)).toBe(false)
  })
})
