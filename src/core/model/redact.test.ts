import { expect, test } from 'vitest'
import { commandLine, redacted, shellText, withoutSecrets } from './redact.ts'

test('R9: what a command line says in secret is not written down, and the rest is', () => {
  const said = [
    [['deploy', '--token', 'abc123', '--to', 'here'], 'deploy --token *** --to here'],
    [['deploy', '--api-key=abc123', 'x'], 'deploy --api-key=*** x'],
    [['env', 'DB_PASSWORD=pass word', 'psql'], 'env DB_PASSWORD=*** word psql'],
    [['sh', '-c', "export GITHUB_TOKEN='a b'; make"], 'sh -c export GITHUB_TOKEN=***; make'],
    [['git', 'push', 'https://me:hunter2@host/x.git'], 'git push https://me:***@host/x.git'],
    [['curl', '-H', 'Authorization: Bearer abc.def'], 'curl -H Authorization: Bearer ***'],
    [['curl', '-H', 'Authorization: Basic Ym9iOmFiYw=='], 'curl -H Authorization: Basic ***'],
    [['curl', '-H', 'Authorization: Bearer *** x'], 'curl -H Authorization: Bearer *** x'],
    [['echo', `ghp_${'a'.repeat(36)}`], 'echo ***'],
    [['curl', '-H', 'X-Api-Key: abc', 'https://host'], 'curl -H X-Api-Key: *** https://host'],
    [['curl', '-u', 'bob:abc', 'https://host'], 'curl -u bob:*** https://host'],
    [
      ['sh', '-c', "curl --user 'bob:abc' x; mysql -h db -pabc shop"],
      "sh -c curl --user 'bob:***' x; mysql -h db -p*** shop",
    ],
    [['git', 'push', '-u', 'origin', 'HEAD:main'], 'git push -u origin HEAD:main'],
    [['npm', 'test', '--', '--grep', 'tokens of the parser'], 'npm test -- --grep tokens of the parser'],
  ] as const
  for (const [argv, line] of said) expect(commandLine(argv)).toBe(line)
})

test.each([
  ['GET / with Authorization: Basic Ym9iOmFiYw== failed', 'GET / with Authorization: Basic *** failed'],
  ['proxy-authorization:  NTLM TlRMTVNTUAAB', 'proxy-authorization:  NTLM ***'],
  ['Authorization: abc123def456', 'Authorization: ***'],
  ['{"Authorization":"token abc123def456","Accept":"*"}', '{"Authorization":"token ***","Accept":"*"}'],
  [
    'Authorization: Digest username="bob", response="abc123", qop=auth\nnext',
    'Authorization: Digest ***\nnext',
  ],
])('R9: whoever signs in by a header does so in secret: %s', (text, safe) => {
  expect(redacted(text)).toBe(safe)
  expect(redacted(safe)).toBe(safe)
})

test('R9: a sentence about secrets is left as it is', () => {
  for (const text of [
    'Fix auth: rename the token',
    'author=Me',
    'Fix authorization: rename the token',
    'Use password: field in the form',
    'Add bearer token authentication',
    'Fix authorization: basic auth is ignored',
    'Make auth=none work',
    'Send Authorization: Bearer header',
    'Add a --token option to deploy',
    'Rename --password to --passphrase',
    'Show token=null and password=true as they are',
    '3 tests fail, pass=12',
    'Keep PWD=/home/me and --bypass cache',
    'Fix X-Api-Key: header is not sent',
  ])
    expect(redacted(text)).toBe(text)
})

test.each([
  [
    "deploy --token s3cr3t-abc --password hunter; SECRET_KEY=foo DB_PASS=bar PRIVATE_KEY=baz curl -H 'X-Api-Key: key' x",
    "deploy --token *** --password ***; SECRET_KEY=*** DB_PASS=*** PRIVATE_KEY=*** curl -H 'X-Api-Key: ***' x",
  ],
  ['curl --header "Authorization: token abc" x', 'curl --header "Authorization: token ***" x'],
  ['(login --password "a b" | tee log)', '(login --password *** | tee log)'],
  ['login --token --verbose; DB_PWD=abc go', 'login --token --verbose; DB_PWD=*** go'],
  ['http --auth bob:abc host', 'http --auth *** host'],
])('R9: what a shell is given in secret is not written down: %s', (text, safe) => {
  expect(shellText(text)).toBe(safe)
  expect(shellText(safe)).toBe(safe)
  expect(redacted(safe)).toBe(safe)
  expect(commandLine(['sh', '-c', text])).toBe(`sh -c ${safe}`)
})

test.each([
  ['deploy --token s3cr3t-abc failed', 'deploy --token *** failed'],
  ["curl -H 'X-Api-Key: key' failed", "curl -H 'X-Api-Key: ***' failed"],
  ['cannot read {"user":"bob","password":"abc"}', 'cannot read {"user":"bob","password":"***"}'],
  ['refused: x-api-key: abc123def456', 'refused: x-api-key: ***'],
  ['refused: auth=abc123 and Bearer abc123', 'refused: auth=*** and Bearer ***'],
  ['SECRET_KEY=foo DB_PASS=bar PRIVATE_KEY=baz', 'SECRET_KEY=*** DB_PASS=*** PRIVATE_KEY=***'],
  ['GET /file?sig=abcdef&page=2 was refused', 'GET /file?sig=***&page=2 was refused'],
  ['https://bob:p@ss@host/x did not answer', 'https://bob:***@host/x did not answer'],
])('R9: a secret in a sentence is not written down: %s', (text, safe) => {
  expect(redacted(text)).toBe(safe)
  expect(redacted(safe)).toBe(safe)
})

test.each([
  `sk-${'a1'.repeat(12)}`,
  'AKIAABCDEFGHIJKLMNOP',
  `glpat-${'x'.repeat(20)}`,
  `xoxb-${'1'.repeat(12)}`,
  `eyJhbGciOiJI.eyJzdWIiOiIx.abcdefghijk`,
])('R9: %s is known by its looks', (secret) => {
  expect(redacted(`failed with ${secret}.`)).toBe('failed with ***.')
})

test('R9: an event is stored without the secrets of its texts, and with its refs as they are', () => {
  const said = 'deploy --token s3cr3t-abc'
  const failed = withoutSecrets({ type: 'publish.undone', reason: said })
  expect(failed.reason).toBe('deploy --token ***')
  const step = { type: 'checkpoint', n: 1, commit: said, tool: said, summary: said, at: '' } as never
  expect(withoutSecrets(step)).toMatchObject({ commit: said, summary: 'deploy --token ***' })
})
