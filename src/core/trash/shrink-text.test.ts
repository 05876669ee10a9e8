import { expect, test } from 'vitest'
import type { Task } from '../model/task.ts'
import { announcementLines, deletedLines, packedLines, previewLines } from './shrink-text.ts'

const trash = { keepDays: 30, maxMegabytes: 10 }
const task = (id: string) => ({ id }) as Task
const loose = { folder: '/trash/a', since: new Date(0) }
const plan = {
  expires: [],
  expiring: [],
  slims: [],
  announced: [],
  loose: { goes: [], waits: [] },
  slimNotes: {},
  expiryNotes: {},
  notesTime: true,
  packs: true,
}

test('R12: what will be deleted is announced with its limit and the way back', () => {
  const waiting = {
    ...plan,
    announced: [task('T1'), task('T2')],
    expiring: [task('T3')],
    loose: { goes: [], waits: [loose] },
  }
  expect(announcementLines(waiting, trash)).toEqual([
    'Trash and vault take more than 10 MB (trash.maxMegabytes). The folders of T1, T2 will leave the trash; their files are in the vault, what git ignores is not.',
    'Closed more than 30 days ago (trash.keepDays), the first prune that comes a day from now or later lets them go for good: T3. Until then they can be brought back: offshoot ops lists their operations.',
    'In the trash for 30 days: 1 folder of no operation; the first prune that comes a day from now or later lets them go for good.',
  ])
})

test('R12: a preview names what would go, and a prune counts what went', () => {
  const due = {
    ...plan,
    expires: [{ task: task('T3'), lastAt: '', bytes: 0 }],
    loose: { goes: [loose, loose], waits: [] },
  }
  expect(previewLines(due, [task('T1')], trash)).toEqual([
    'The folders of T1 would leave the trash; their files are in the vault.',
    'Closed for 30 days, these would be gone for good: T3.',
    'Would be deleted for good: 2 folders of no operation, in the trash for 30 days.',
  ])
  expect(deletedLines({ slimmed: [task('T1')], expired: 1, loose: 2 }, trash)).toEqual([
    '1 folder left the trash; the vault has the files.',
    'Deleted for good: 1 task, closed for 30 days.',
    'Deleted for good: 2 folders of no operation, in the trash for 30 days.',
  ])
})

test('R12: packing is told by what it freed, and by what is still too much', () => {
  const [freed, over] = packedLines({ freed: 2 * 2 ** 20, over: 2 ** 20 }, trash)
  expect(freed).toBe('The vault was packed, which freed 2.0 MiB.')
  expect(over).toMatch(
    /^Trash and vault take 1\.0 MiB more than trash\.maxMegabytes \(10 MB\), and nothing more/,
  )
})

test('R12: where nothing happened, nothing is said', () => {
  expect([
    ...announcementLines(plan, trash),
    ...previewLines(plan, [], trash),
    ...deletedLines({ slimmed: [], expired: 0, loose: 0 }, trash),
    ...packedLines({ freed: -5, over: -5 }, trash),
  ]).toEqual([])
})
