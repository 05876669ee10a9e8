import { expect, test } from 'vitest'
import { fc } from '../../test/support/random.ts'
import { AppError } from '../core/model/errors.ts'
import { asText, failure, longestAnswer, success } from './answers.ts'

test('M1: an answer is what --json prints, as a value and as text', () => {
  const answer = success({ tasks: [] })
  expect(answer).toEqual({
    structuredContent: { ok: true, tasks: [] },
    content: [{ type: 'text', text: '{"ok":true,"tasks":[]}' }],
  })
})

test('I5: a failure has code, message and hint, and counts as an error', () => {
  const error = {
    code: 'WT_007',
    message: 'There is no task T1.',
    hint: 'offshoot list shows the open tasks.',
  }
  expect(failure(new AppError('noSuchTask', error.message))).toMatchObject({
    isError: true,
    structuredContent: { ok: false, error },
  })
  expect(failure(new TypeError('oops'))).toMatchObject({ structuredContent: { error: { code: 'WT_020' } } })
})

test('M5: text hides nothing and means the same', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (said) => {
      const text = asText({ said })
      expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
      expect(JSON.parse(text)).toEqual({ said })
    }),
  )
  expect(asText({ said: 'größer \u{e0041}\u202e' })).toBe('{"said":"größer \\udb40\\udc41\\u202e"}')
})

test('M5: an answer that is longer than a client takes is refused', () => {
  const fits = 'x'.repeat(longestAnswer - 100)
  expect(success({ diff: fits })).toMatchObject({ structuredContent: { ok: true } })
  expect(success({ diff: `${fits}${fits}` })).toMatchObject({
    isError: true,
    structuredContent: { ok: false },
  })
})
