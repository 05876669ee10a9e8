import { expect, test } from 'vitest'
import { listedIds } from './hunk-ids.ts'

test.each([
  ['12ab\n34cd\n', ['12ab', '34cd']],
  ['# mine\n12ab  src/a.ts  +1 -0  @@ -1 +1 @@\r\n\n', ['12ab']],
  ['["12ab", "34cd"]', ['12ab', '34cd']],
  ['[{"id":"12ab","path":"a"}]', ['12ab']],
  ['{"ok":true,"hunks":[{"id":"12ab"},{"id":"34cd"}]}', ['12ab', '34cd']],
  ['', []],
])('I1: %j names the hunks %j', (content, ids) => {
  expect(listedIds(content)).toEqual(ids)
})

test.each(['diff --git a/f b/f', '{"hunks":7}', '[1]', '["12ab"', '{}'])(
  'I5: %j is no list of hunks',
  (content) => {
    expect(listedIds(content)).toBeUndefined()
  },
)
