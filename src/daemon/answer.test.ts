import { expect, test } from 'vitest'
import { errorTable, AppError, type Problem } from '../core/model/errors.ts'
import { statusOf } from './answer.ts'

test('D5: each kind of failure has its status', () => {
  const problems = Object.keys(errorTable) as Problem[]
  const found = problems.map((problem) => [problem, statusOf(new AppError(problem, '', { hint: '' }))])
  expect(Object.fromEntries(found)).toMatchObject({
    wrongUsage: 400,
    noSuchTask: 404,
    notFound: 404,
    conflict: 409,
    uncommittedChanges: 422,
    policyRefused: 422,
    locked: 422,
    notARepository: 500,
    diskFull: 500,
    failed: 500,
    cancelled: 500,
  })
  expect(statusOf(new AppError('policyRefused', '', { hint: '', data: { scope: 'land' } }))).toBe(403)
})
