import { expect, test } from 'vitest'
import { redacted } from './redact.ts'
import { risks } from '../landing/risk.ts'
import { secretFormats } from './secrets.ts'

const isRefused = (content: string) =>
  risks([{ path: 'a.txt', from: null, to: { mode: '100644', oid: 'b' }, content: Buffer.from(content) }])
    .refused.length > 0

/** One or more of each format, by its issuer. */
const samples: Record<string, readonly string[]> = {
  'PEM and OpenPGP private keys': [
    '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEow+/\n-----END RSA PRIVATE KEY-----',
    '-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQOYBF\n-----END PGP PRIVATE KEY BLOCK-----',
  ],
  AWS: ['AKIAABCDEFGHIJKLMNOP', 'ASIAABCDEFGHIJKLMNOP'],
  GitHub: [`ghp_${'a'.repeat(36)}`, `github_pat_${'a1_'.repeat(20)}`],
  GitLab: [`glpat-${'x'.repeat(20)}`],
  'OpenAI, Anthropic and others': [`sk-${'a1'.repeat(12)}`, `sk-ant-api03-${'b'.repeat(93)}AA`],
  Slack: [`xoxb-${'1'.repeat(12)}`],
  Google: [`AIza${'b'.repeat(35)}`],
  npm: [`npm_${'c'.repeat(36)}`],
  'JSON Web Tokens': ['eyJhbGciOiJI.eyJzdWIiOiIx.abcdefghijk'],
}

test('the samples are of every format in the table', () => {
  expect(Object.keys(samples).sort()).toEqual(secretFormats.map(({ issuer }) => issuer).sort())
})

test.each(Object.entries(samples).flatMap(([issuer, some]) => some.map((secret) => [issuer, secret])))(
  'A9, R9: landing refuses and redaction masks the same list: %s, %j',
  (_, secret) => {
    expect(isRefused(`It is ${secret} here.`)).toBe(true)
    expect(redacted(`It is ${secret} here.`)).toBe('It is *** here.')
  },
)

test.each(['.sk-folding-cube-wrapper { color: red }', 'npm_config_registry=x', 'ghp_short', 'eyJhbGciOiJI'])(
  'A9, R9: both leave %j as it is',
  (text) => {
    expect(isRefused(text)).toBe(false)
    expect(redacted(text)).toBe(text)
  },
)

test('R9: a private key that is cut off is masked to its end', () => {
  expect(redacted('cat: -----BEGIN PRIVATE KEY-----\nMIIEow')).toBe('cat: ***')
})

test('many beginnings of private keys take no time', () => {
  const text = '-----BEGIN PRIVATE KEY-----\n'.repeat(20_000)
  expect(redacted(text)).toBe('***'.repeat(20_000))
})
