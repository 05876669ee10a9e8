import { expect, test } from 'vitest'
import { edited } from './edit.ts'

test('H6: what a settings file says besides stays, with its comments and its order', async () => {
  const text = '# ours\nlimits:\n  perRepo: 20 # enough\nhooks:\n  # tests\n  preAccept: npm test\n'
  expect(await edited(text, { 'hooks.postStart': 'set -e\nnpm ci' })).toBe(
    `${text}  postStart: |-\n    set -e\n    npm ci\n`,
  )
})

test('H6: an empty file, and a group that holds nothing, get what is missing', async () => {
  expect(await edited('', { 'hooks.postStart': 'npm ci' })).toBe('hooks:\n  postStart: npm ci\n')
  const { parse } = await import('yaml')
  expect(parse(await edited('hooks:\n  # none\n', { 'hooks.postStart': 'a: b #' }))).toEqual({
    hooks: { postStart: 'a: b #' },
  })
})

test.each(['- a\n', 'a: [\n', 'word\n'])('H6: %j is no settings file, and stays as it is', async (text) => {
  await expect(edited(text, { 'hooks.postStart': 'x' })).rejects.toMatchObject({ code: 'WT_016' })
})
