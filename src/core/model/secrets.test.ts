import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { redacted } from './redact.ts'
import { beginOfOpenKey, hasSecret, isSecretName, secretFormats, secretSearch } from './secrets.ts'

const hex = (count: number) => '0f1e2d3c4b5a6978'.repeat(Math.ceil(count / 16)).slice(0, count)
const mixed = (count: number) => 'aB3dE6gH9jK2mN5p'.repeat(Math.ceil(count / 16)).slice(0, count)

/** One or more of each format, by its issuer. */
const samples: Record<string, readonly string[]> = {
  'PEM and OpenPGP private keys': [
    '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEow+/\n-----END RSA PRIVATE KEY-----',
    '-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQOYBF\n-----END PGP PRIVATE KEY BLOCK-----',
  ],
  offshoot: [`offshoot_0a1b2c3d_${mixed(43)}`],
  age: [`AGE-SECRET-KEY-1${mixed(58).toUpperCase()}`],
  AWS: ['AKIAABCDEFGHIJKLMNOP', 'ASIAABCDEFGHIJKLMNOP'],
  'Amazon Bedrock': [`ABSK${mixed(110)}==`],
  GitHub: [`ghp_${'a'.repeat(36)}`, `github_pat_${'a1_'.repeat(20)}`],
  GitLab: [`glpat-${'x'.repeat(20)}`, `glrt-${mixed(20)}`],
  'OpenAI, Anthropic and others': [`sk-${'a1'.repeat(12)}`, `sk-ant-api03-${'b'.repeat(93)}AA`],
  Slack: [`xoxb-${'1'.repeat(12)}`, `xapp-1-${mixed(30)}`, `hooks.slack.com/services/${mixed(44)}`],
  Google: [`AIza${'b'.repeat(35)}`, `GOCSPX-${mixed(28)}`, `ya29.${mixed(40)}`],
  npm: [`npm_${'c'.repeat(36)}`],
  PyPI: [`pypi-AgEIcHlwaS5vcmc${mixed(60)}`],
  RubyGems: [`rubygems_${hex(48)}`],
  Stripe: [`sk_live_${mixed(24)}`, `rk_test_${mixed(24)}`, `whsec_${mixed(32)}`],
  'Hugging Face': [`hf_${'aBcD'.repeat(9)}`],
  SendGrid: [`SG.${mixed(22)}.${mixed(43)}`],
  Brevo: [`xkeysib-${hex(64)}-${mixed(16)}`],
  Mailgun: [`key-${hex(32)}`],
  Azure: [`abc8Q~${mixed(34)}`],
  DigitalOcean: [`dop_v1_${hex(64)}`],
  Databricks: [`dapi${hex(32)}`],
  Doppler: [`dp.pt.${mixed(43)}`],
  Dynatrace: [`dt0c01.${mixed(24)}.${mixed(64)}`],
  'Fly.io': [`fo1_${mixed(43)}`, `fm2_${mixed(100)}`],
  Grafana: [`glc_${mixed(40)}`, `glsa_${mixed(32)}_${hex(8)}`],
  HashiCorp: [`hvs.${mixed(95)}`, `${mixed(14)}.atlasv1.${mixed(64)}`],
  Linear: [`lin_api_${mixed(40)}`],
  'New Relic': [`NRAK-${mixed(27)}`],
  Notion: [`ntn_12345678901${mixed(35)}`],
  Perplexity: [`pplx-${mixed(48)}`],
  Postman: [`PMAK-${hex(24)}-${hex(34)}`],
  Pulumi: [`pul-${hex(40)}`],
  PlanetScale: [`pscale_tkn_${mixed(43)}`],
  Sentry: [`sntryu_${hex(64)}`],
  Shopify: [`shpat_${hex(32)}`],
  Square: [`sq0atp-${mixed(22)}`],
  Telegram: [`123456789:AA${mixed(33)}`],
  Twilio: [`SK${hex(32)}`],
  '1Password': [`ops_eyJ${mixed(250)}`],
  Artifactory: [`AKCp${mixed(69)}`],
  Atlassian: [`ATATT3${mixed(100)}`],
  Heroku: [`HRKU-AA${mixed(58)}`],
  'JSON Web Tokens': ['eyJhbGciOiJI.eyJzdWIiOiIx.abcdefghijk'],
}

/** Formats whose surroundings are a part of them: a test of their own. */
const others = ['PuTTY', '.npmrc']

test('the samples are of every format in the table', () => {
  expect([...Object.keys(samples), ...others].sort()).toEqual(
    secretFormats.map(({ issuer }) => issuer).sort(),
  )
})

test.each(Object.entries(samples).flatMap(([issuer, some]) => some.map((secret) => [issuer, secret])))(
  'A9, R9: landing refuses and redaction masks the same list: %s, %j',
  (_, secret) => {
    expect(hasSecret(`It is ${secret} here.`)).toBe(true)
    expect(redacted(`It is ${secret} here.`)).toBe('It is *** here.')
  },
)

test.each([
  ['PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\nAAAA', '***'],
  [`//registry.example/:_authToken=${mixed(36)}`, '//registry.example/:_authToken=***'],
  [`apiKey: "${mixed(24)}"`, 'apiKey: "***"'],
  [`client_secret = '${mixed(24)}'`, "client_secret = '***'"],
  [`'secret' => '${mixed(24)}'`, "'secret' => '***'"],
  [`AccountName=x;AccountKey=${mixed(80)}==;Next=1`, 'AccountName=x;AccountKey=***;Next=1'],
  [`"auth": "${mixed(24)}"`, '"auth": "***"'],
])('A9, R9: both know %j by its name', (text, masked) => {
  expect(hasSecret(text)).toBe(true)
  expect(redacted(text)).toBe(masked)
})

test.each([
  '.sk-folding-cube-wrapper { color: red }',
  'npm_config_registry=x',
  'ghp_short',
  'eyJhbGciOiJI',
  `"integrity": "sha512-${mixed(86)}=="`,
  '"resolved": "https://registry.example/a/-/a-1.0.0.tgz#0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c"',
  'id: 123e4567-e89b-12d3-a456-426614174000',
  'commit 098100bbf1e2d3c4b5a69788796a5b4c3d2e1f0a',
  `<img src="data:image/png;base64,${mixed(400)}">`,
  '!function(e,t){var n=e.token=t.secretKey||getDefaultTokenFromHeader2;return n}(a,b);',
  'password: process.env.DATABASE_PASSWORD_2',
  // oxlint-disable-next-line no-template-curly-in-string -- as a workflow has it
  'token: ${{ secrets.GITHUB_TOKEN }}',
  'token = "your-api-token-goes-here-1a2b3c"',
  'const tokens = tokenizer.tokenize(text)',
])('A9: %j is not refused', (text) => {
  expect(hasSecret(text)).toBe(false)
})

test('R9: a private key that is cut off is masked to its end', () => {
  expect(redacted('cat: -----BEGIN PRIVATE KEY-----\nMIIEow')).toBe('cat: ***')
})

test.each(['package-lock.json', 'docs/picture.svg', 'src/core/model/secrets.ts', 'src/core/model/redact.ts'])(
  'A9: %s of this repository is not refused',
  (file) => {
    expect(hasSecret(readFileSync(file, 'latin1'))).toBe(false)
  },
)

test.each(['prod.env', '.env.local', 'a/server.key', 'k.ppk', '.aws/credentials', '_netrc', 'store.p12'])(
  'A9: %s is a secret by its name',
  (name) => {
    expect(isSecretName(name)).toBe(true)
  },
)

test('A9: a secret is found wherever the pieces are cut, and in UTF-16', () => {
  const content = Buffer.from(`${'x'.repeat(1024 * 1024 - 20)}\nAKIAABCDEFGHIJKLMNOP\n${'y'.repeat(300_000)}`)
  for (const size of [7_001, 65_536, 1_048_570]) {
    const search = secretSearch()
    for (let at = 0; at < content.length; at += size) search.take(content.subarray(at, at + size))
    expect(search.end()).toBe(true)
  }
  const wide = secretSearch()
  wide.take(Buffer.from('\ufeffkey=AKIAABCDEFGHIJKLMNOP\r\n', 'utf16le'))
  expect(wide.end()).toBe(true)
})

test('a private key that the text does not end is found by its first line', () => {
  const pem = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n'
  const putty = 'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n'
  expect(beginOfOpenKey(`cat:\n${pem}`)).toBe(5)
  expect(beginOfOpenKey(`${pem}-----END OPENSSH PRIVATE KEY-----\n`)).toBeUndefined()
  expect(beginOfOpenKey(`${pem}-----END OPENSSH PRIVATE KEY-----\n${putty}`)).toBe(pem.length + 34)
  expect(beginOfOpenKey(`${putty}Private-MAC: 00\n`)).toBeUndefined()
  expect(beginOfOpenKey('-----BEGIN CERTIFICATE-----\nMII')).toBeUndefined()
})

/** Beginnings of what is searched for, again and again, without an end. */
test.each([
  '-----BEGIN PRIVATE KEY-----\n',
  'sk-',
  'eyJ-',
  'eyJabcdefgh.',
  'docker login ',
  'mysql -h ',
  'token:  ',
  'password_',
  'echo "',
  'cookie: a',
  'https://a',
  'set x secret',
  '-u a',
  '_authToken ',
  'Authorization: ',
  'auth:',
  'pass:',
  'a',
  ' ',
])('many times %j takes no time', (words) => {
  const text = words.repeat(Math.ceil(400_000 / words.length))
  const begun = performance.now()
  hasSecret(text)
  redacted(text)
  expect(performance.now() - begun).toBeLessThan(4_000)
})

test('a long name to sign in with takes no time', () => {
  const begun = performance.now()
  redacted(`-u ${'='.repeat(100_000)}`)
  expect(performance.now() - begun).toBeLessThan(1_000)
})
