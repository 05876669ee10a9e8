import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { quoted } from './shell-quote.ts'

test.each([
  'plain/file.ts',
  '',
  'two words',
  "it's",
  '$(touch PASTED)',
  '`id`',
  '=ls',
  '!!',
  'a\nb',
  "a\n'b\\",
  '\u001b]0;x\u0007',
  '\u009b2J7',
  '\u202eevil',
  'größe 日本',
])('S1: %j is one word for a shell, and nothing in it moves the cursor', (name) => {
  const shown = quoted(name)
  expect(execFileSync('bash', ['-c', `printf %s ${shown}`], { encoding: 'utf8' })).toBe(name)
  expect(shown).not.toMatch(/[\p{Cc}\p{Cf}]/u)
})
