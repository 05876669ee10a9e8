import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { LeftBehind } from '../../src/core/model/git.ts'
import type { Owner } from '../../src/core/model/task.ts'
import { psEntry } from '../../src/process/darwin.ts'
import { isAlive } from '../../src/process/alive.ts'
import { processEntry } from '../../src/process/linux.ts'
import { type ProcessRecords, processes } from '../../src/process/processes.ts'
import { isRunning, killHard, type Program, runProgram, until } from '../support/processes.ts'

const program = new URL('./process.owner.ts', import.meta.url)
const withGrandchild = 'sleep 1000 & echo $!; wait'

let folder: string
let records: ProcessRecords

beforeEach(() => {
  folder = path.join(mkdtempSync(path.join(tmpdir(), 'offshoot-process-')), 'children')
  records = processes(folder)
})
afterEach(() => {
  rmSync(path.dirname(folder), { recursive: true })
})

interface Family {
  readonly owner: Owner
  readonly child: number
  readonly grandchild: number
}

async function family(script = withGrandchild): Promise<Family & { running: Program }> {
  const running = runProgram(program, folder, script)
  const members = JSON.parse(await running.line()) as Family
  onTestFinished(() => killHard(members.child, members.grandchild))
  return { ...members, running }
}

function alone(): number {
  const child = spawn('/bin/sleep', ['1000'], { detached: true, stdio: 'ignore' })
  onTestFinished(() => killHard(child.pid!))
  return child.pid!
}

/** Changes what is noted about the only recorded child. */
function alterRecord(change: (record: { startedAt: string; boot: string }) => object): void {
  const [name] = readdirSync(folder)
  const file = path.join(folder, name!)
  writeFileSync(file, JSON.stringify(change(JSON.parse(readFileSync(file, 'utf8')) as never)))
}

test('a process knows itself, and is known by others until it has ended', async () => {
  const { owner, running } = await family()
  expect(records.self()).toEqual({ pid: process.pid, startedAt: expect.any(String), boot: owner.boot })
  expect(isAlive(records.self())).toBe(true)
  expect(isAlive(owner)).toBe(true)
  await running.kill()
  expect(isAlive(owner)).toBe(false)
})

test('a pid of another start time or another boot is another process', () => {
  const self = records.self()
  expect(isAlive({ ...self, startedAt: '1' })).toBe(false)
  expect(isAlive({ ...self, boot: 'before' })).toBe(false)
})

test('a process that has ended counts as dead before its parent asked for its exit code', async () => {
  // The shell starts a child, then becomes a program that never asks; the child waits for that.
  const child = '(until grep -q sleep /proc/$$/comm; do :; done)'
  const { owner, grandchild } = await family(`${child} & echo $!; exec sleep 1000`)
  await until(() => !isRunning(grandchild), 'the child has ended')
  const startedAt = processEntry(readFileSync(`/proc/${grandchild}/stat`, 'latin1')).startedAt
  expect(isAlive({ pid: grandchild, startedAt, boot: owner.boot })).toBe(false)
})

test('P2: the child and the grandchild of a killed owner are ended, and their record with them', async () => {
  const { owner, child, grandchild, running } = await family()
  await running.kill()
  expect([child, grandchild].map(isRunning)).toEqual([true, true])

  expect(await records.endChildren(owner)).toBe(1)
  expect([child, grandchild].map(isRunning)).toEqual([false, false])
  expect(readdirSync(folder)).toEqual([])
  expect(await records.endChildren(owner)).toBe(0)
})

test('P2: a grandchild is ended as well when the child between has ended already', async () => {
  const { owner, child, grandchild, running } = await family('sleep 1000 & echo $!')
  await running.kill()
  await until(() => !isRunning(child), 'the child has ended')
  expect(isRunning(grandchild)).toBe(true)
  expect(await records.endChildren(owner)).toBe(1)
  expect(isRunning(grandchild)).toBe(false)
})

test.each(['runs', 'has ended'])(
  'R5: of a child that changed refs and %s it is told since when, and until when only if that was seen',
  async (how) => {
    const { owner, child, grandchild, running } = await family()
    await running.kill()
    alterRecord((record) => ({ ...record, changing: '/repo/.git' }))
    if (how === 'has ended') killHard(child, grandchild)
    await until(() => how === 'runs' || !isRunning(child), 'the child has ended')
    const told: LeftBehind[] = []
    await records.endChildren(owner, async (left) => void told.push(...left))
    const to = how === 'runs' ? expect.any(Number) : undefined
    expect(told).toEqual([{ gitDir: '/repo/.git', from: expect.any(Number), to }])
    expect(Math.abs(Date.now() - (told[0]?.from ?? 0))).toBeLessThan(60_000)
  },
)

test('a stranger who got the pid of a recorded child is not touched', async () => {
  const { owner, child, grandchild, running } = await family()
  await running.kill()
  alterRecord((record) => ({ ...record, startedAt: String(Number(record.startedAt) - 1) }))
  expect(await records.endChildren(owner)).toBe(0)
  expect([child, grandchild].map(isRunning)).toEqual([true, true])
  expect(readdirSync(folder)).toEqual([])
})

test('a group without its leader is not touched when a member is older than the recorded child', async () => {
  const { owner, child, grandchild, running } = await family('sleep 1000 & echo $!')
  await running.kill()
  await until(() => !isRunning(child), 'the child has ended')
  alterRecord((record) => ({ ...record, startedAt: String(Number(record.startedAt) + 1_000_000) }))
  expect(await records.endChildren(owner)).toBe(0)
  expect(isRunning(grandchild)).toBe(true)
})

test('after a restart of the machine no pid means anything, and the old records go', async () => {
  const { owner, child, running } = await family()
  await running.kill()
  alterRecord((record) => ({ ...record, boot: 'before' }))
  expect(await records.endChildren(owner)).toBe(0)
  expect(readdirSync(folder)).toHaveLength(1)
  expect(await records.endChildren({ ...owner, boot: 'before' })).toBe(0)
  expect(readdirSync(folder)).toEqual([])
  expect(isRunning(child)).toBe(true)
})

test('the children of a living owner are left alone', async () => {
  const { owner, child } = await family()
  expect(await records.endChildren(owner)).toBe(0)
  expect(isRunning(child)).toBe(true)
  expect(readdirSync(folder)).toHaveLength(1)
})

test('a record is private, and goes when its child has ended', () => {
  const forget = records.recordChild(alone())
  const [name] = readdirSync(folder)
  expect((statSync(folder).mode & 0o777).toString(8)).toBe('700')
  expect((statSync(path.join(folder, name!)).mode & 0o777).toString(8)).toBe('600')
  forget()
  forget()
  expect(readdirSync(folder)).toEqual([])
})

test('a child that is gone already needs no record', () => {
  records.recordChild(2 ** 22 + 1)()
  expect(() => readdirSync(folder)).toThrow('ENOENT')
})

test('a name with brackets and spaces does not shift what /proc tells', () => {
  const fields = Array.from({ length: 50 }, (_, index) => String(index + 4))
  expect(processEntry(`77 (a) b) (c) R ${fields.join(' ')}`)).toEqual({
    pid: 77,
    group: 5,
    session: 6,
    startedAt: '22',
    ended: false,
  })
})

test('a line of ps on macOS tells the same', () => {
  expect(psEntry('  77    70 Ss   Sun Nov 15 18:01:02 2026    ')).toEqual({
    pid: 77,
    group: 70,
    session: 70,
    startedAt: String(Date.UTC(2026, 10, 15, 18, 1, 2)),
    ended: false,
  })
})
