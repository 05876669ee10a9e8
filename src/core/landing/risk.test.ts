import { expect, test } from 'vitest'
import type { Mode } from '../model/tree.ts'
import { risks, type SeenFile } from './risk.ts'

const file = (path: string, mode: Mode = '100644', from?: Mode): SeenFile => ({
  path,
  from: from ? { mode: from, oid: 'a' } : null,
  to: { mode, oid: 'b' },
  holdsSecret: false,
})

test('A9: what can be run is told: new, made so, or changed', () => {
  const found = risks([
    file('new.sh', '100755'),
    file('changed.sh', '100755', '100755'),
    file('made.sh', '100755', '100644'),
    file('plain.txt'),
  ])
  expect(found.told.map(({ path }) => path)).toEqual(['new.sh', 'changed.sh', 'made.sh'])
  expect(found.refused).toEqual([])
})

test('A9: what runs later is told with the reason, unless it is deleted or changed harmlessly', () => {
  expect(risks([file('Makefile')]).told).toEqual([{ path: 'Makefile', why: 'runs with a build or a test' }])
  expect(risks([{ ...file('Makefile'), to: null }]).told).toEqual([])
  expect(risks([{ ...file('package.json'), isHarmless: true }]).told).toEqual([])
})

test.each(['.env', 'config/.env.production', 'prod.env', 'id_rsa', 'server.pem', 'server.key', 'k.ppk'])(
  'A9: %s looks like a secret',
  (path) => {
    expect(risks([file(path)]).refused).toHaveLength(1)
  },
)

test.each(['.env.example', 'example.env', 'src/env.ts', 'token.md', 'keys.ts'])('A9: %s does not', (path) => {
  expect(risks([file(path)]).refused).toEqual([])
})

test('A9: a submodule, a secret and a link that leads out are refused, a deletion never', () => {
  expect(risks([file('sub', '160000')]).refused).toHaveLength(1)
  expect(risks([{ ...file('a.txt'), holdsSecret: true }]).refused).toHaveLength(1)
  expect(risks([{ ...file('x', '120000'), link: 'a link' }]).refused).toEqual([{ path: 'x', why: 'a link' }])
  expect(risks([{ ...file('.env'), to: null }]).refused).toEqual([])
})
