/** What comes before a verb: recovery where something died, and nothing where all is well. */
import { spawn } from 'node:child_process'
import { existsSync, globSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { recordGit } from '../support/git-record.ts'
import { until } from '../support/processes.ts'
import { offshoot, tempFolder, type TestRepo, testRepo } from '../support/repo.ts'
import { vaultDir } from '../support/vault.ts'
import { library, withEnv } from '../support/workspace.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

/** A run as a process of its own, which has written `work.txt` and waits. */
async function running(repo: TestRepo, workspace: string) {
  const args = [bin, 'run', '--task', 'T1', '--', 'sh', '-c', 'echo work > work.txt; sleep 300']
  const child = spawn(process.execPath, args, { cwd: repo.dir, env: repo.env, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  await until(() => existsSync(path.join(workspace, 'work.txt')), 'the command has begun')
  return child
}

test('R5: a run that is at work elsewhere makes no command look at everything', async () => {
  const plain = testRepo()
  const record = recordGit(tempFolder())
  const repo = withEnv(plain, { PATH: `${record.bin}:${plain.env.PATH}` })
  const lib = library(plain)
  const { task } = await lib.start({ task: 'T1' })
  const other = (await lib.start({ task: 'T2' })).task
  const callsOf = async (content: string) => {
    writeFileSync(path.join(other.path, 'more.txt'), content)
    record.take()
    expect((await offshoot(repo, 'checkpoint', 'T2', '--json')).json).toMatchObject({ created: true })
    return record
      .take()
      .flatMap(({ args }) => args.find((arg) => /^[a-z]/.test(arg)) ?? [])
      .toSorted()
  }
  // An index of the same seconds as the files is refreshed later, once: here at the first of these calls.
  for (const index of globSync(path.join(vaultDir(plain), 'tasks/*/index'))) utimesSync(index, 0, 0)
  expect(await callsOf('first\n')).toContain('update-index')
  const alone = await callsOf('alone\n')
  await running(plain, task.path)
  expect(await callsOf('beside\n')).toEqual(alone)
})

test('R5: a dry run sees a run that was killed as what it is: over', async () => {
  const repo = testRepo()
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1' })
  const child = await running(repo, task.path)
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGKILL')
  await ended
  const { json: told } = await offshoot(repo, 'prune', '--older-than', '0m', '--dry-run', '--json')
  expect(told.skipped).toMatchObject([{ why: expect.not.stringContaining('under way') }])
  const { code, json } = await offshoot(repo, 'accept', 'T1', '--dry-run', '--json')
  expect([code, json.preview]).toMatchObject([0, { clean: true, files: [{ path: 'work.txt' }] }])
})
