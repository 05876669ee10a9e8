/** The files that a command names, and what is stored of the user's trust in them. */
import { expect, test } from 'vitest'
import { wordsOf } from './files.ts'
import { fingerprintOf, trustIn } from './trust.ts'

test.each([
  ['./setup.sh', ['setup.sh']],
  ['sh -c "./a b.sh"', ['a b.sh', 'a', 'b.sh']],
  ["bash 'my setup.sh'; x", ['my setup.sh', 'setup.sh']],
  ['cd app&&./x.sh>log', ['app', 'x.sh', 'log']],
  ['env A=tools/x "$ROOT/tools/y"', ['tools/x', 'x', 'tools/y', 'y']],
  ['/repo/bin/run `tools/z`', ['repo/bin/run', 'bin/run', 'run', 'tools/z']],
  ['a/./b/../c.sh', ['a/c.sh']],
])('H7: %s may name these files', (command, files) => {
  expect(wordsOf(command)).toEqual(expect.arrayContaining(files))
})

test.each(['', '.', '..', './', '../x/..', '/', ' ; && | '])(
  'H7: %j names none that could leave the checkout',
  (command) => {
    const leaving = wordsOf(command).filter(
      (word) => /^(?:\/|\.\.(?:\/|$))/.test(word) || word === '.' || word === '',
    )
    expect(leaving).toEqual([])
  },
)

test('H7: the fingerprint changes with every value, path and content; a path may have several contents', () => {
  const values = [{ key: 'hooks.preRun', value: './a' }]
  const files = [
    { path: 'a', sha256: '1' },
    { path: 'a', sha256: '2' },
    { path: '__proto__', sha256: '3' },
  ]
  const whole = { values, files }
  const others = [
    { values: [], files },
    { values, files: files.slice(1) },
    { values, files: files.map((file) => ({ ...file, path: 'b' })) },
    { values, files: files.map((file) => ({ ...file, sha256: '4' })) },
  ]
  expect(new Set([whole, ...others].map(fingerprintOf)).size).toBe(5)
  expect(JSON.parse(trustIn(whole)).files.a).toEqual(['1', '2'])
  expect(trustIn(whole)).toContain('"__proto__":["3"]')
})
