/** Editing a settings file: comments, order and all other keys stay. */
import { expect, test } from 'vitest'
import { editSettings } from './edit.ts'

test('H6: what a settings file says besides stays, with its comments and its order', async () => {
  const text = '# ours\nlimits:\n  perRepo: 20 # enough\nhooks:\n  # tests\n  preAccept: npm test\n'
  expect(await editSettings(text, { 'hooks.postStart': 'set -e\nnpm ci' })).toBe(
    `${text}  postStart: |-\n    set -e\n    npm ci\n`,
  )
})

test('H6: an empty file, and a group that holds nothing, get what is missing', async () => {
  expect(await editSettings('', { 'hooks.postStart': 'npm ci' })).toBe('hooks:\n  postStart: npm ci\n')
  const { parse } = await import('yaml')
  expect(parse(await editSettings('hooks:\n  # none\n', { 'hooks.postStart': 'a: b #' }))).toEqual({
    hooks: { postStart: 'a: b #' },
  })
})

test.each(['- a\n', 'a: [\n', 'word\n'])('H6: %j is no settings file, and stays as it is', async (text) => {
  await expect(editSettings(text, { 'hooks.postStart': 'x' })).rejects.toMatchObject({ code: 'WT_016' })
})
