import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { displayWidth } from '../../src/cli/display-width.ts'
import { hook } from '../support/claude-hook.ts'
import { offshoot, testRepo, type TestRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { atTerminal, noTerminal } from '../support/terminal.ts'
import { withEnv } from '../support/workspace.ts'

const title =
  '直す the login form, and every other form of the site that asks for a password 🚀 before Friday'

/** Two tasks: one with a long title and an agent that was denied something, and one that failed at length. */
async function twoTasks(): Promise<TestRepo> {
  const repo = withStandIn(testRepo({ 'a.txt': 'one\n' }))
  await offshoot(repo, 'start', 'T1', '--title', title)
  const last = `I have changed 日本 and ${'many other words '.repeat(20)}\n\tand a tab`
  await offshoot(
    repo,
    'run',
    '--task',
    'T1',
    play(
      { write: `${'deep/'.repeat(3)}x.txt`.replaceAll('/', '-') },
      { use: 'Read', input: { file_path: '/etc/shadow' } },
      { say: last },
    ),
  )
  await offshoot(repo, 'run', '--task', 'a-task-with-a-long-name-of-its-own', '--', 'sh', '-c', 'exit 3')
  return repo
}

const linesOf = (text: string) => text.trimEnd().split('\n')

describe('I11: what fits a terminal', () => {
  test.skipIf(noTerminal)(
    'I11: list, show, log and agents are as wide as the terminal, and the title is cut first',
    async () => {
      const repo = await twoTasks()
      for (const columns of [60, 80, 200]) {
        const list = linesOf(await atTerminal(repo, ['list'], [], { columns }))
        const show = linesOf(await atTerminal(repo, ['show', 'T1'], [], { columns }))
        const alone = linesOf(await atTerminal(repo, [], [], { columns }))
        const log = linesOf(await atTerminal(withEnv(repo, { PAGER: 'cat' }), ['log', 'T1'], [], { columns }))
        const agents = linesOf(await atTerminal(repo, ['agents'], [], { columns }))
        for (const line of [...list, ...show, ...alone, ...log, ...agents])
          expect({ columns, line, fits: displayWidth(line) <= columns }).toEqual({
            columns,
            line,
            fits: true,
          })
        const row = list.find((line) => line.startsWith('T1')) ?? ''
        expect(row).toMatch(/ claude +completed +1 +1 +\+1 -0 +now$/)
        expect(row.includes(title)).toBe(columns === 200)
        if (columns === 80) expect(row).toMatch(/^T1 +直.*… +claude/)
        expect(show.join('\n')).toContain(
          'the agent’s last words:\n  I have changed 日本 and many other words',
        )
        // A path goes on in the next line, and nothing of it is lost.
        const { path: folder } = (await offshoot(repo, 'show', 'T1', '--json')).json.task
        const at = show.findIndex((line) => line.startsWith('workspace'))
        const rest = show.slice(at + 1).findIndex((line) => !line.startsWith('  '))
        const value = show.slice(at, at + 1 + rest).map((line, n) => (n === 0 ? line.slice(9) : line).trim())
        expect(value.join('')).toBe(folder)
      }
    },
  )

  test('I11: elsewhere than at a terminal nothing is cut, and a title of several lines stays on one', async () => {
    const repo = await twoTasks()
    await offshoot(repo, 'start', 'T2', '--title', 'one\ntwo')
    const { stdout } = await offshoot(repo, 'list')
    expect(linesOf(stdout)[0]).toMatch(/^TASK +TITLE +AGENT +STATE +STEPS +FILES +LINES +AGE$/)
    expect(stdout).toContain(title)
    expect(stdout).toMatch(/^T2 +one two +active +0 +0 +\+0 -0 +now$/m)
    expect(stdout).toMatch(
      /^a-task-with-a-long-name-of-its-own .*sh +failed: sh ended with exit code 3 +0 +0 +\+0 -0 +now$/m,
    )
    const columns = linesOf(stdout).map((line) => displayWidth(line.slice(0, line.search(/now$|AGE$/))))
    expect(new Set(columns).size).toBe(1)
  })
})

test('I12: show tells the last steps, the files with their lines, denials, what the agent asked for and its last words', async () => {
  const repo = withStandIn(testRepo())
  const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
  const acts = Array.from({ length: 6 }, (_, n) => ({ write: `f${n}.txt` }))
  const asks = `'${process.execPath}' '${bin}' accept T1`
  const denied = { use: 'Read', input: { file_path: '/etc/shadow' } }
  await offshoot(repo, 'run', '--task', 'T1', play(...acts, { sh: asks }, denied, { say: 'Please look.' }))
  const { path: folder } = (await offshoot(repo, 'show', 'T1', '--json')).json.task
  writeFileSync(path.join(folder, 'i.bin'), Buffer.from([0, 1, 2]))
  const { stdout } = await offshoot(repo, 'show', 'T1')
  expect(stdout).toMatch(/^asked of you +the agent asks you to accept it$/m)
  expect(stdout).toMatch(/^agent +claude, 1 run$/m)
  expect(stdout).toMatch(/^changes +7 files, \+6 -0$/m)
  expect(stdout).toMatch(/^no step yet +1 file \(\+ i\.bin\)$/m)
  expect(stdout).toMatch(
    /^steps:\n {2}and 1 more: offshoot log T1\n {2}2 {2}\w{10} {2}Write: f1\.txt {2}\(\+ f1\.txt\)/m,
  )
  expect(stdout).toMatch(/^files:\n {2}\+1 -0 {3}\+ f0\.txt\n[\s\S]*^ {2}binary {2}\+ i\.bin$/m)
  expect(stdout).toMatch(/^denied in the last run:\n {2}Read \/etc\/shadow \(.+\)$/m)
  expect(stdout).toMatch(/^the agent’s last words:\n {2}Please look\.\n$/m)
  const { json } = await offshoot(repo, 'show', 'T1', '--json')
  expect(json).toMatchObject({
    task: { wanted: 'accept', dirty: true },
    checkpoints: [{ n: 2 }, { n: 3 }, { n: 4 }, { n: 5 }, { n: 6 }],
    noStep: [{ path: 'i.bin', status: 'added' }],
    denied: [{ tool: 'Read', summary: '/etc/shadow' }],
    lastWords: 'Please look.',
  })
  expect(json.files[0]).toEqual({ path: 'f0.txt', status: 'added', insertions: 1, deletions: 0 })
})

test('I12: show of an accepted task tells where it landed, and by which operation', async () => {
  const repo = testRepo()
  await offshoot(repo, 'run', '--task', 'T1', '--', 'touch', 'b.txt')
  const first = (await offshoot(repo, 'accept', 'T1', '--json')).json.operation as string
  const landed = async () => /^landed +(.*)$/m.exec((await offshoot(repo, 'show', 'T1')).stdout)?.[1]
  expect(await landed()).toBe(`in the files of ${repo.dir}, by accept ${first.slice(0, 6)}`)
  await offshoot(repo, 'undo')
  expect(await landed()).toBe('not yet')
  repo.git('branch', 'release')
  const words = ['accept', 'T1', '--as', 'squash', '--onto', 'release', '--json']
  const { operation } = (await offshoot(repo, ...words)).json
  const commit = repo.git('rev-parse', 'release').trim()
  expect(await landed()).toBe(`in release at ${commit.slice(0, 10)}, by accept ${operation.slice(0, 6)}`)
  expect((await offshoot(repo, 'show', 'T1', '--json')).json.landedIn).toEqual({
    operation,
    branch: 'release',
    commit,
  })
})

test('I10: status is what offshoot alone prints, for a person and as JSON', async () => {
  const repo = testRepo()
  await offshoot(repo, 'run', '--task', 'T1', '--', 'sh', '-c', 'echo x > x.txt')
  const [alone, status] = [await offshoot(repo), await offshoot(repo, 'status')]
  expect(status).toMatchObject({ code: 0, stdout: alone.stdout })
  expect(status.stdout).toContain('ready for review')
  expect((await offshoot(repo, 'status', '--json')).json).toEqual((await offshoot(repo, '--json')).json)
  expect((await offshoot(repo, 'help', 'status')).stdout).toContain('Usage: offshoot status')
})

test('I11: a name with a line feed or wide letters stays in its line, in log and in hunks that accept takes', async () => {
  const repo = testRepo()
  const { path: folder } = (await offshoot(repo, 'start', 'T1', '--json')).json.task
  for (const name of ['a\nb.txt', '日本.txt', 'c.txt']) writeFileSync(path.join(folder, name), 'x\n')
  await offshoot(repo, 'checkpoint', 'T1')
  expect(linesOf((await offshoot(repo, 'log', 'T1')).stdout)).toHaveLength(1)
  const { stdout } = await offshoot(repo, 'diff', 'T1', '--hunks')
  const lines = linesOf(stdout)
  expect(lines).toHaveLength(3)
  expect(new Set(lines.map((line) => displayWidth(line.slice(0, line.indexOf('+1 -0'))))).size).toBe(1)
  const list = path.join(repo.home, 'list')
  writeFileSync(list, stdout)
  expect(await offshoot(repo, 'accept', 'T1', '--hunks', list)).toMatchObject({ code: 0 })
  expect(readFileSync(path.join(repo.dir, 'a\nb.txt'), 'utf8')).toBe('x\n')
})

test('I11: trust --show prints each line of a command below the one before', async () => {
  const repo = testRepo({ '.offshoot.yaml': 'hooks:\n  postStart: |\n    npm ci\n    npm run build\n' })
  expect((await offshoot(repo, 'trust', '--show')).stdout).toMatch(
    /^ {2}postStart {2}npm ci\n {13}npm run build$/m,
  )
})

test('K1: a step that a hook takes names its file as log does, not by its full path', async () => {
  const repo = testRepo()
  const { path: cwd } = (await offshoot(repo, 'start', 'T1', '--json')).json.task
  mkdirSync(path.join(cwd, 'src'))
  const file = path.join(cwd, 'src', 'x.txt')
  writeFileSync(file, 'x\n')
  await hook(repo, 'PostToolUse', { cwd, tool_name: 'Write', tool_input: { file_path: file } })
  const [step] = (await offshoot(repo, 'log', 'T1', '--json')).json.checkpoints
  expect(step).toMatchObject({ tool: 'Write', summary: 'src/x.txt' })
})
