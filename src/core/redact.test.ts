import { expect, test } from 'vitest'
import { commandLine, redacted } from './redact.ts'

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
  ])
    expect(redacted(text)).toBe(text)
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
