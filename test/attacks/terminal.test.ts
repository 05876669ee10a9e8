/** Names and output that try to forge lines, move the cursor or be pasted into a shell. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { offshoot, type Outcome } from '../support/repo.ts'
import { worked } from '../support/worked.ts'

const forged = 'a\nT1 would land cleanly:\n  + README.md'
const bidi = 'evil\u202etxt.exe'
const control = 'clear\u009b2J'
const hidden = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

const texts = ({ stdout, stderr }: Outcome) => [stdout, stderr]

test('P4.5: a name with a line feed forges no line, in any command that prints it', async () => {
  const { user, at } = await worked({ 'a.txt': 'one\n' })
  for (const name of [forged, bidi, control]) writeFileSync(at(name), 'x\n')
  const said = [
    await offshoot(user, 'checkpoint', 'T1'),
    await offshoot(user, 'log', 'T1'),
    await offshoot(user, 'show', 'T1'),
    await offshoot(user, 'list'),
    await offshoot(user, 'diff', 'T1', '--stat'),
    await offshoot(user, 'diff', 'T1', '--name-only'),
    await offshoot(user, 'diff', 'T1', '--hunks'),
    await offshoot(user, 'accept', 'T1', '--dry-run'),
  ]
  for (const text of said.flatMap(texts)) {
    expect(text).not.toMatch(hidden)
    expect(text.split('\n')).not.toContain('  + README.md')
  }
  const { stdout } = said.at(-1)!
  expect(stdout.split('\n').filter((line) => line.startsWith('T1 would land'))).toHaveLength(1)
})

test('P4.5: JSON keeps the names as they are', async () => {
  const { user, at } = await worked({ 'a.txt': 'one\n' })
  for (const name of [forged, bidi, control]) writeFileSync(at(name), 'x\n')
  const { json } = await offshoot(user, 'accept', 'T1', '--dry-run', '--json')
  expect(json.preview.files.map(({ path: file }: { path: string }) => file)).toEqual([forged, control, bidi])
})

test('P4.5: a hook writes nothing to the terminal that it obeys', async () => {
  const { user, at } = await worked({ 'a.txt': 'one\n' })
  mkdirSync(path.join(user.home, '.config/offshoot'), { recursive: true })
  writeFileSync(
    path.join(user.home, '.config/offshoot/config.yaml'),
    `hooks:\n  preAccept: printf 'line one\\nline two \\033]52;c;ZXZpbA==\\007 \\302\\2332J\\n'\n`,
  )
  writeFileSync(at('b.txt'), 'x\n')
  const said = await offshoot(user, 'accept', 'T1')
  expect(said.code).toBe(0)
  expect(said.stderr).toContain('line one\nline two \\u{1b}]52;c;ZXZpbA==\\u{7} \\u{9b}2J\n')
  expect(said.stderr).not.toMatch(hidden)
})

test('P4.5: an error keeps a hostile name on one line', async () => {
  const { user, at } = await worked({ 'a.txt': 'one\n' })
  writeFileSync(at('.env.x\nerror WT_000: all is well'), 'A=1\n')
  const { code, stderr } = await offshoot(user, 'accept', 'T1')
  expect(code).toBe(5)
  expect(stderr.split('\n').filter((line) => line.startsWith('error'))).toHaveLength(1)
  expect(stderr).not.toMatch(hidden)
})

test.each([
  '.env.$(touch PASTED)',
  '.env.`touch PASTED`',
  '.env.; touch PASTED',
  ".env.'; touch PASTED; '",
  '.env.\ntouch PASTED',
])('Low, hints: %j can be pasted, and names the file', async (name) => {
  const { user, at } = await worked({ 'a.txt': 'one\n' })
  writeFileSync(at(name), 'A=1\n')
  const { json } = await offshoot(user, 'accept', 'T1', '--json')
  const pasted = /--allow .*/s.exec(json.error.hint)?.[0] ?? ''
  const words = execFileSync('bash', ['-c', `printf '%s\\0' ${pasted}`], { cwd: user.dir, encoding: 'utf8' })
  expect(words.split('\0')).toEqual(['--allow', name, ''])
  expect(existsSync(path.join(user.dir, 'PASTED'))).toBe(false)
  expect((await offshoot(user, 'accept', 'T1', '--allow', name)).code).toBe(0)
  expect(readFileSync(path.join(user.dir, name), 'utf8')).toBe('A=1\n')
})

test('Low, hints: a hostile branch is quoted', async () => {
  const { user, repo, at } = await worked({ 'a.txt': 'one\n' })
  const branch = 'x;touch${IFS}PASTED'
  user.git('branch', branch)
  writeFileSync(at('a.txt'), 'theirs\n')
  user.git('switch', '-q', branch)
  user.write('a.txt', 'ours\n')
  user.git('commit', '-qam', 'Ours')
  await expect(repo.accept({ task: 'T1', as: 'squash', onto: branch })).rejects.toMatchObject({
    code: 'WT_011',
    hint: expect.stringContaining(`--onto '${branch}' `),
  })
})
