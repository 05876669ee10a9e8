/** Errors of model servers, in words. */
import { expect, test } from 'vitest'
import { inWords } from './words.ts'

const body = { type: 'error', error: { type: 'invalid_request_error', message: 'Out to lunch.', code: 400 } }

test.each([
  ['as Codex passes it on', JSON.stringify(body), 'Out to lunch.'],
  ['as Gemini CLI does', `[API Error: ${JSON.stringify(body)}]`, 'API Error: Out to lunch.'],
  ['in a list', `[API Error: [${JSON.stringify(body)}]]`, 'API Error: Out to lunch.'],
  ['in another', JSON.stringify({ error: { message: JSON.stringify(body) } }), 'Out to lunch.'],
  ['as a word', JSON.stringify({ error: 'unauthorized' }), 'unauthorized'],
  ['in words', 'API Error: 529 Overloaded', 'API Error: 529 Overloaded'],
  ['with other braces', 'no {such} thing', 'no {such} thing'],
  ['without a message', '{"code":1}', '{"code":1}'],
])('L8: an error of the model %s is told in words', (_, said, words) => {
  expect(inWords(said)).toBe(words)
})
