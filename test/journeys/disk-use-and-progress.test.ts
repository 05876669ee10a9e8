/** I9: what tasks cost on the disk, and how far a checkout has come. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { library } from '../support/workspace.ts'

const mebibyte = 2 ** 20
const bulk = (folder: string) => writeFileSync(path.join(folder, 'bulk'), Buffer.alloc(mebibyte, 1))

test('I9: show, list and doctor tell what workspaces, vault, pool and trash cost', async () => {
  const repo = testRepo()
  const lib = library(repo, { background: false, flags: { pool: { size: 1 } } })
  const { task } = await lib.start({ task: 'T1' })
  const before = await lib.disk()
  expect(before.workspaces).toEqual([{ task: 'T1', path: task.path, bytes: expect.any(Number) }])
  bulk(task.path)
  const filled = await lib.disk()
  expect(filled.workspaces[0]!.bytes - before.workspaces[0]!.bytes).toBeGreaterThanOrEqual(mebibyte)
  expect(filled.trash).toBe(before.trash)

  await lib.pool()
  const pooled = await lib.disk()
  expect(pooled.pool).toBeGreaterThan(filled.pool)

  const second = await lib.start({ task: 'T2' })
  bulk(second.task.path)
  await lib.reject({ task: 'T2' })
  const rejected = await lib.disk({ task: 'T1' })
  expect(rejected.workspaces.map((one) => one.task)).toEqual(['T1'])
  expect(rejected.trash - pooled.trash).toBeGreaterThanOrEqual(mebibyte)
  expect(rejected.vault).toBeGreaterThan(0)

  const shown = await offshoot(repo, 'show', 'T1', '--disk', '--json')
  expect(shown.json).toMatchObject({
    task: { id: 'T1' },
    disk: { trash: rejected.trash, vault: rejected.vault },
  })
  const listed = await offshoot(repo, 'list', '--disk')
  expect(listed.stdout).toMatch(
    /T1 .* 1\.\d MiB\n\nworkspaces 1\.\d MiB, vault .*, pool .*, trash 1\.\d MiB\n$/s,
  )
  expect((await offshoot(repo, 'list', '--disk', '--json')).json.disk.workspaces).toHaveLength(1)
  const { checks } = (await offshoot(repo, 'doctor', '--json')).json
  expect(checks.find((check: { name: string }) => check.name === 'disk')).toMatchObject({
    status: 'ok',
    message: expect.stringMatching(/^workspaces 1\.\d MiB, vault /),
  })
})

test('I9: a task in the user’s own checkout costs nothing', async () => {
  const repo = testRepo()
  const lib = library(repo)
  await lib.start({ task: 'T1', isolation: 'branch' })
  expect(await lib.disk()).toMatchObject({ workspaces: [], pool: 0, trash: 0 })
})

/** A repository whose files each take a while to be checked out. */
function slow(): TestRepo {
  const repo = testRepo()
  repo.write('.gitattributes', '*.slow filter=slow\n')
  for (let n = 0; n < 8; n++) repo.write(`${n}.slow`, `${n}\n`)
  repo.git('add', '--all')
  repo.git('commit', '--quiet', '--message=Slow')
  repo.git('config', '--global', 'filter.slow.smudge', 'sleep 0.3; cat')
  repo.git('config', '--global', 'filter.slow.clean', 'cat')
  return repo
}

test('I9: a checkout that takes longer than a second tells how far it is; a quick one, and one with --json, does not', async () => {
  const repo = slow()
  const told = (await offshoot(repo, 'start', 'T1')).stderr
  expect(told).toMatch(/^Making the workspace: \d+ % \(\d+ of 10 files\)$/m)
  const asked = await offshoot(repo, 'start', 'T2', '--json', '--isolation', 'clone')
  expect([asked.json.ok, asked.stderr]).toEqual([true, ''])
  expect((await offshoot(testRepo(), 'start', 'T1')).stderr).toBe('')
})

test('I9: run tells it as events', async () => {
  const repo = slow()
  const { stdout } = await offshoot(repo, 'run', '--json', '--task', 'T1', '--', 'true')
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const told = events.filter(({ event }) => event === 'progress')
  expect(told.length).toBeGreaterThan(0)
  expect(told[0]).toEqual({
    event: 'progress',
    phase: 'making',
    percent: expect.any(Number),
    files: expect.any(Number),
    total: 10,
  })
})
