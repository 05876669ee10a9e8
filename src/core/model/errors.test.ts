import { describe, expect, test } from 'vitest'
import { AppError, appError, errorTable, problemOf } from './errors.ts'

/** As the contract has it. */
const promised: Record<string, [exit: number, title: string]> = {
  WT_001: [5, 'path exists'],
  WT_002: [5, 'branch in use'],
  WT_003: [5, 'limit reached'],
  WT_004: [5, 'uncommitted changes'],
  WT_005: [3, 'not found'],
  WT_006: [2, 'path outside the base'],
  WT_007: [3, 'no such task'],
  WT_008: [1, 'clean-up failed'],
  WT_009: [6, 'not a git repository'],
  WT_010: [3, 'base does not exist'],
  WT_011: [4, 'conflict'],
  WT_012: [5, 'locked by another process'],
  WT_013: [5, 'task id taken'],
  WT_014: [6, 'disk full'],
  WT_015: [6, 'git too old or broken'],
  WT_016: [2, 'bad settings'],
  WT_017: [5, 'policy refused'],
  WT_018: [1, 'agent failed'],
  WT_019: [2, 'wrong usage'],
  WT_020: [1, 'failed'],
  WT_021: [130, 'cancelled'],
  WT_022: [6, 'state folder not usable'],
  WT_023: [1, 'steps not found'],
}

describe('the table of errors', () => {
  test.each(Object.entries(promised))('I5: %s has its exit code and its meaning', (code, [exit, title]) => {
    const problem = problemOf(code)
    const error = new AppError(problem, 'what happened', { hint: 'Do that.' })
    expect(error.code).toBe(code)
    expect(error.exitCode).toBe(exit)
    expect(errorTable[problem].title).toBe(title)
  })

  test('I5: a hint of the table is a sentence, and is shown where the place that throws has none', () => {
    for (const row of Object.values(errorTable)) if ('hint' in row) expect(row.hint).toMatch(/^.{10,}\.$/)
    expect(new AppError('failed', 'It failed.').hint).toBe(errorTable.failed.hint)
    // @ts-expect-error -- whatever hint stood in the table would be wrong in some of the places
    expect(new AppError('branchInUse', 'It is used.').hint).toBe('')
    for (const { code } of Object.values(errorTable)) expect(promised).toHaveProperty(code)
  })
})

describe('AppError', () => {
  test('I5: the outside sees code, message and hint, and path and data when there are any', () => {
    expect(JSON.parse(JSON.stringify(new AppError('failed', 'It failed.')))).toEqual({
      code: 'WT_020',
      message: 'It failed.',
      hint: errorTable.failed.hint,
    })
    const cause = new Error('secret detail')
    const full = new AppError('uncommittedChanges', 'Dirty.', {
      hint: 'Commit.',
      path: '/w',
      data: { changed: ['a'], ignored: [] },
      cause,
    })
    expect(JSON.parse(JSON.stringify(full))).toEqual({
      code: 'WT_004',
      message: 'Dirty.',
      hint: 'Commit.',
      path: '/w',
      data: { changed: ['a'], ignored: [] },
    })
    expect(full.cause).toBe(cause)
  })

  test('I5: the data belongs to the problem, as far as the compiler can see', () => {
    const detail = { hint: 'Reject one.', data: { open: 3, limit: 3 } }
    const thrown = appError(new AppError('limitReached', 'Too many.', detail))
    // @ts-expect-error: which data there is depends on the problem.
    expect(thrown.data?.limit).toBe(3)
    expect(thrown.problem === 'limitReached' && thrown.data?.limit).toBe(3)
    // @ts-expect-error: of another problem.
    expect(new AppError('conflict', 'Conflict.', { data: { open: 3, limit: 3 } }).problem).toBe('conflict')
    // @ts-expect-error: this one has none.
    expect(new AppError('wrongUsage', 'Wrong.', { data: { open: 3 } }).problem).toBe('wrongUsage')
    const unknown: unknown = thrown
    expect(unknown instanceof AppError && unknown.problem === 'limitReached' && unknown.data?.open).toBe(3)
  })
})

describe('appError', () => {
  test.each([
    ['ENOSPC', 'WT_014'],
    ['EDQUOT', 'WT_014'],
    ['EROFS', 'WT_022'],
    ['EACCES', 'WT_022'],
    ['EPERM', 'WT_022'],
    ['ENOENT', 'WT_020'],
    [undefined, 'WT_020'],
  ])('I5: %s of the system is %s', (code, expected) => {
    const thrown = Object.assign(new Error('it failed'), { code, path: '/there' })
    expect(appError(thrown)).toMatchObject({
      code: expected,
      message: 'it failed',
      path: '/there',
      cause: thrown,
    })
  })

  test('S3: an AbortError is cancelled', () => {
    const { reason } = AbortSignal.abort()
    expect(appError(reason)).toMatchObject({ code: 'WT_021', exitCode: 130 })
  })

  test('I5: an error of ours stays itself, and what is no error becomes one', () => {
    const ours = new AppError('noSuchTask', 'No.')
    expect(appError(ours)).toBe(ours)
    for (const thrown of ['text', undefined, null, 5]) {
      expect(appError(thrown)).toMatchObject({ code: 'WT_020', message: String(thrown) })
    }
  })
})
