/** A worktree for each task, under the ids by which it was asked for: policies and limits. */
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { call } from '../../support/call.ts'
import type { FileSystem } from '../../../src/core/ports/files.ts'
import type { Vault } from '../../../src/core/ports/vault.ts'
import { pruneVerdicts } from '../../../src/core/closing/prune-policy.ts'
import { defaultSettings } from '../../../src/core/model/settings.ts'
import type { Task } from '../../../src/core/model/task.ts'
import { type TaskView } from '../../../src/index.ts'
import { offshoot, testRepo } from '../../support/repo.ts'
import { branches, library, linkedWorktrees, once, withEnv } from '../../support/workspace.ts'
import { old, all, names, ids, refused, later } from './shared.ts'

describe('policies and limits', () => {
  const used = (days: number): Task =>
    ({
      uid: `u${days}`,
      id: String(days),
      lastActiveAt: new Date(Date.now() - days * 86_400_000).toISOString(),
    }) as Task

  test('UT-006, FR-031, AC-008, AC-021: by age, the old are chosen, and the newest two stay', () => {
    const verdicts = pruneVerdicts([used(1), used(20), used(9), used(8)], defaultSettings, new Date())
    expect(ids(verdicts.filter(({ goes }) => goes))).toEqual(['20', '9'])
  })
  test('AC-021, FR-031, AC-008: what was not used for more than 7 days goes, and before that nothing does', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const tasks: TaskView[] = []
    for (const task of ['T1', 'T2', 'T3', 'T4']) tasks.push((await lib.start({ task })).task)
    const pruned = (days: number) =>
      later(repo, days, async (ports) => ids((await call(ports, 'task.prune', { repo: repo.dir })).removed))
    const there = () => names(tasks.filter((task) => existsSync(task.path)))
    expect([await pruned(6), there()]).toEqual([[], ['T1', 'T2', 'T3', 'T4']])
    expect([await pruned(8), there()]).toEqual([
      ['T1', 'T2'],
      ['T3', 'T4'],
    ])
    expect(branches(repo)).toEqual(['main', 'offshoot/T3', 'offshoot/T4'])
  })
  test('AC-022, UT-006: by count, the oldest above the limit are chosen', () => {
    const policy = { ...defaultSettings, limits: { perRepo: 2 } }
    const verdicts = pruneVerdicts([used(1), used(2), used(3), used(4)], policy, new Date())
    expect(ids(verdicts.filter(({ goes }) => goes))).toEqual(['4', '3'])
  })
  test('AC-022: of more than the limit allows the oldest go, as many as there are too many', async () => {
    const repo = testRepo()
    for (const task of ['T1', 'T2', 'T3', 'T4']) await once(repo, (lib) => lib.start({ task }))
    const lib = library(repo, { flags: { ...all, limits: { perRepo: 2 } } })
    expect(ids((await lib.prune()).removed)).toEqual(['T1', 'T2'])
    expect(names(await lib.list())).toEqual(['T4', 'T3'])
    expect(linkedWorktrees(repo)).toHaveLength(2)
    expect(branches(repo)).toEqual(['main', 'offshoot/T3', 'offshoot/T4'])
  })
  test('NFR-019: past the limit a creation is refused, and says what to do', async () => {
    const lib = library(testRepo(), { flags: { limits: { perRepo: 2 } } })
    for (const task of ['T1', 'T2']) await lib.start({ task })
    await refused(lib.start({ task: 'T3' }), 'WT_003')
    await expect(lib.start({ task: 'T3' })).rejects.toMatchObject({ hint: expect.stringContaining('prune') })
  })
  test('NFR-006, NFR-018: how full the disk is, is looked at, and told from 90 % on', async () => {
    expect(defaultSettings.disk.warnPercent).toBe(90)
    const repo = testRepo()
    const full = (percent: number) => ({
      around: {
        files: (files: FileSystem) => ({
          ...files,
          readFreeSpace: async () => ({ free: 100 - percent, total: 100, network: false }),
        }),
      },
    })
    await library(repo).start({ task: 'T1' })
    expect((await library(repo, full(89)).prune()).warnings).toEqual([])
    expect((await library(repo, full(90)).prune()).warnings).toEqual([expect.stringContaining('90 % full')])
  })
  test('NFR-018: every verb that makes something tells that the disk is 90 % full', async () => {
    const repo = testRepo()
    const at = (percent: number) => {
      const readFreeSpace = async () => ({ free: 100 - percent, total: 100, network: false })
      return library(repo, { around: { files: (files: FileSystem) => ({ ...files, readFreeSpace }) } })
    }
    const verbs = async (lib: ReturnType<typeof at>, id: string) => {
      const started = await lib.start({ task: id })
      writeFileSync(path.join(started.task.path, 'new.txt'), `${id}\n`)
      const taken = await lib.checkpoint({ task: id })
      const ran = await lib.run({ task: id, create: true, command: ['true'] })
      const rewound = await lib.rewind({ task: id, to: 0 })
      const accepted = await lib.accept({ task: id, keep: true })
      return [started, taken, ran, rewound, accepted, await lib.undo()].map(({ warnings }) => warnings)
    }
    expect(await verbs(at(89), 'T1')).toEqual(Array(6).fill(undefined))
    const warning = [expect.stringContaining('90 % full (disk.warnPercent is 90)')]
    expect(await verbs(at(90), 'T2')).toEqual(Array(6).fill(warning))
    const told = await offshoot(withEnv(repo, { OFFSHOOT_DISK_WARN_PERCENT: '1' }), 'start', 'T3')
    expect(told.stderr).toMatch(/^warning: The disk of .* % full/m)
  })
  test('NFR-014: a clean-up is in the log', async () => {
    const lib = library(testRepo(), { flags: all })
    await lib.start({ task: 'T1' })
    const [removed] = (await lib.prune(old)).removed
    expect(
      (await lib.audit({ task: 'T1' })).filter(({ operation }) => operation === removed?.operation),
    ).toMatchObject([{ what: 'operation.begun', detail: 'prune' }, {}, { what: 'operation.done' }])
  })
  test('NFR-017: a clean-up keeps nobody waiting: in the middle of it others start, checkpoint and list', async () => {
    const repo = testRepo()
    const user = library(repo)
    for (const task of ['T1', 'T2']) await user.start({ task })
    const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const waits = (vault: Vault): Vault => ({
      ...vault,
      async readDirt(...args) {
        reached.resolve()
        await gate.promise
        return vault.readDirt(...args)
      },
    })
    const pruning = library(repo, { flags: all, around: { vault: waits } }).prune(old)
    await reached.promise
    const { task } = await user.start({ task: 'T3' })
    writeFileSync(path.join(task.path, 'new.txt'), 'new\n')
    expect((await user.checkpoint({ task: 'T3' })).created).toBe(true)
    expect(names(await user.list())).toEqual(['T3', 'T2', 'T1'])
    gate.resolve()
    expect(ids((await pruning).removed)).toEqual(['T1', 'T2'])
    expect(names(await user.list())).toEqual(['T3'])
  })
  test('NFR-017: a clean-up leaves alone what is in use', async () => {
    const repo = testRepo()
    const lib = library(repo, { flags: all })
    await lib.start({ task: 'T1' })
    await lib.task('T1').run('agent', async () => {
      expect((await lib.prune({ ...old, force: true })).removed).toEqual([])
    })
    expect((await lib.list()).map(({ state }) => state)).toEqual(['completed'])
  })
})
