import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadPathMatcher } from '../../src/core/base/pathspec.ts'
import type { ToolCall } from '../../src/core/model/agent.ts'
import { knowCall, realPlace } from '../../src/core/runs/known-call.ts'
import { decide, type Policy } from '../../src/core/runs/policy.ts'
import type { PolicyPlace } from '../../src/core/runs/places.ts'
import { nodeFiles } from '../../src/files/node.ts'
import { fc, repetitions } from '../support/random.ts'
import { offshoot, tempFolder, testRepo, type TestRepo } from '../support/repo.ts'
import { type Act, play, withStandIn } from '../support/stand-in.ts'
import { library, withEnv } from '../support/workspace.ts'
import { corpus } from './policy-corpus.ts'

const matcher = await loadPathMatcher()
const { readRealPath } = nodeFiles()

async function decided(policy: Policy, call: ToolCall, place: PolicyPlace, followed = readRealPath) {
  const real = await realPlace(place, followed)
  return decide(policy, await knowCall(call, real, followed), real, matcher)
}

describe('H3, H4, M6: the corpus', () => {
  const place = { workspace: '/w/T1', free: ['/tmp'], closed: ['/state'], home: '/home/u' }
  const asIs = (file: string) => Promise.resolve(path.resolve(file))

  test('H3, H4, M6: has at least 300 calls, of every kind and for every level', () => {
    expect(corpus.length).toBeGreaterThan(300)
    for (const level of ['permissive', 'moderate', 'strict'])
      expect(
        new Set(corpus.filter((row) => row.level === level).map(({ expected }) => expected)).size,
      ).toBeGreaterThan(1)
  })

  test('H3, H4, M6: every call of the corpus gets the decision that is right', async () => {
    const wrong: unknown[] = []
    for (const { source, call, expected, ...policy } of corpus) {
      const { verdict, reason } = await decided(policy, call, place, asIs)
      if (verdict !== expected) wrong.push({ source, policy, call, expected, verdict, reason })
    }
    expect(wrong).toEqual([])
  })

  test('H3: a decision takes less than a millisecond of the processor', async () => {
    const begun = process.cpuUsage()
    for (const { call, ...policy } of corpus) await decided(policy, call, place, asIs)
    const { user, system } = process.cpuUsage(begun)
    expect((user + system) / 1000 / corpus.length).toBeLessThan(1)
  })
})

/** Everything below a folder: kind, mode and content of each file. */
function everything(folder: string): Record<string, string> {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name): [string, string] => {
    const full = path.join(folder, name)
    const { mode } = lstatSync(full)
    return [name, lstatSync(full).isFile() ? `${mode} ${readFileSync(full, 'utf8')}` : String(mode)]
  })
  return Object.fromEntries(found)
}

describe('H4: commands that only look', () => {
  /** A workspace in which every program by the name of `evil` writes a file, beside a home with a secret. */
  function trap() {
    const home = tempFolder()
    const repo = testRepo({ 'a.txt': 'b\na\n', payload: 'x\n', 'src/a.ts': '1\n' }, home)
    for (const name of ['evil', 'src/evil', '-o', 'ls', 'cat\u00A0'])
      writeFileSync(path.join(repo.dir, name), `#!/bin/sh\ntouch ${home}/PWN\n`, { mode: 0o755 })
    writeFileSync(path.join(home, 'secret'), 'SECRET\n')
    symlinkSync(home, path.join(repo.dir, 'out'))
    mkdirSync(path.join(home, 'deep', 'er'), { recursive: true })
    writeFileSync(path.join(home, 'deep', 'secret'), 'SECRET\n')
    symlinkSync(path.join(home, 'deep', 'er'), path.join(repo.dir, 'deep'))
    chmodSync(path.join(repo.dir, 'evil'), 0o755)
    const place = { workspace: repo.dir, free: [], closed: [], home }
    return { repo, home, place }
  }

  const programs =
    'cat ls head tail wc grep rg find tree du stat file diff sort uniq cut date echo sed awk xargs which pwd cd git tee env'
  const options =
    '-n -1 -o -uo -f -e -r -R -k -c -la -S -t -i -O -w -p -U -C --output=PWN --outp=PWN --pre=./evil --compress-program=./evil ' +
    '-S1k -fls -fprint -exec -delete -name -maxdepth --ext-diff --textconv --no-index --files0-from=payload -- - -5 +5'
  const words =
    "a.txt payload PWN ./evil src out out/secret deep/../secret ../secret ~/secret $HOME/secret /etc/passwd HEAD log diff status show 0 '1p' " +
    "'1w PWN' '1e ./evil' '*' * ; + {} {a.txt,PWN} $(./evil) `./evil` <(./evil) ${x@P} ${x:=$(./evil)} $((1)) x=1 'a b' \"a b\" .git"
  const operators = [
    ' ',
    ' ',
    ' ',
    ' ',
    ' ; ',
    ' | ',
    ' && ',
    '\n',
    ' > ',
    ' >> ',
    ' < ',
    ' & ',
    '\t',
    '\u00A0',
    '\\\n',
    ' # ',
  ]

  const word = fc.constantFrom(...options.split(' '), ...words.split(/ (?=(?:[^'"]*['"][^'"]*['"])*[^'"]*$)/))
  const command = fc
    .tuple(
      fc.constantFrom(...programs.split(' ')),
      fc.array(
        fc.tuple(
          fc.constantFrom(...operators),
          fc.oneof(
            { weight: 4, arbitrary: word },
            { weight: 1, arbitrary: fc.constantFrom(...programs.split(' ')) },
          ),
        ),
        { maxLength: 5 },
      ),
    )
    .map(([program, rest]) => program + rest.map((pair) => pair.join('')).join(''))

  const everyday = corpus.flatMap(({ level, expected, allowed, call }) =>
    level === 'moderate' && expected === 'allow' && allowed.length === 0 && call.command !== undefined
      ? [call.command]
      : [],
  )

  test('H4: whatever moderate allows unasked changes no file and shows no secret when a shell runs it', async () => {
    const { repo, home, place } = trap()
    const policy: Policy = { level: 'moderate', allowed: [], denied: [] }
    const isAllowed = async (line: string) => {
      const call: ToolCall = { name: 'Bash', kind: 'shell', input: {}, command: line }
      return (await decided(policy, call, place)).verdict === 'allow'
    }
    const random = fc.sample(command, 1500 * repetitions)
    const lines: string[] = []
    for (const line of new Set([...everyday, ...random])) if (await isAllowed(line)) lines.push(line)
    // Random lines must reach the shells, or the test proves nothing.
    expect(lines.length).toBeGreaterThan(everyday.length / 2 + 30)

    const before = everything(home)
    const shown = (shell: string, some: readonly string[]) =>
      spawnSync(shell, ['-c', 'for line do (eval "$line") < /dev/null; done', shell, ...some], {
        cwd: repo.dir,
        // git may write its index anew with the same content; a look needs none of that.
        env: { ...repo.env, GIT_OPTIONAL_LOCKS: '0' },
        encoding: 'utf8',
        timeout: 60_000,
      }).stdout
    const isHarmful = (shell: string, some: readonly string[]) =>
      shown(shell, some).includes('SECRET') || JSON.stringify(everything(home)) !== JSON.stringify(before)
    for (const shell of ['bash', 'sh'])
      if (isHarmful(shell, lines)) expect(lines.find((line) => isHarmful(shell, [line]))).toBeUndefined()
    expect(everything(home)).toEqual(before)
  })
})

describe('M6: links', () => {
  test('M6: a link of the repository leads no edit out of the workspace', async () => {
    const repo = testRepo()
    const outside = path.join(repo.home, 'outside')
    mkdirSync(outside)
    symlinkSync(outside, path.join(repo.dir, 'hm'))
    repo.git('add', '--all')
    repo.git('commit', '--quiet', '--message=link')
    const user = withEnv(withStandIn(repo), { TMPDIR: path.join(repo.home, 'tmp') })
    mkdirSync(path.join(repo.home, 'tmp'))
    const flags = ['--policy', 'strict', '--allowed-tools', 'Edit', '--task', 'T1', '--json']
    const { stdout } = await offshoot(
      user,
      'run',
      ...flags,
      play(
        { write: 'hm/target' },
        { write: 'hm/\uFDD0' },
        { write: 'hm/a\nb' },
        { write: 'hm/../up' },
        { write: 'inside' },
      ),
    )
    expect(stdout).toContain('hm/target is outside of the workspace')
    expect(readdirSync(outside)).toEqual([])
    const { path: workspace } = await library(user).show('T1')
    expect(existsSync(path.join(workspace, 'inside'))).toBe(true)
  })
})

describe('H3: through the command', () => {
  const run = (repo: TestRepo, flags: string[], ...acts: Act[]) =>
    offshoot(repo, 'run', '--task', 'T1', '--json', ...flags, play(...acts))

  test('H3: what is denied does not run, however it is written', async () => {
    const repo = withStandIn(testRepo())
    const ways = [
      'true; touch x1',
      'cd . && touch x2',
      "'touch' x3",
      'A=1 touch  x4',
      'sh -c "touch x5"',
      'T=touch; $T x6',
    ]
    await run(repo, ['--denied-tools', 'Bash(touch *)'], ...ways.map((sh) => ({ sh })), { sh: 'echo ok > y' })
    const { path: workspace } = await library(repo).show('T1')
    expect(readdirSync(workspace).filter((name) => /^[xy]/.test(name))).toEqual(['y'])
  })

  test.each([
    ['--denied-tools', 'bsah', 'Did you mean Bash?'],
    ['--denied-tools', 'Bash(npm publish', 'Write the name of a tool'],
    ['--denied-tools', 'Bash()', 'Write the name of a tool'],
    ['--allowed-tools', 'Reed,Edit', 'Did you mean Read?'],
    ['--denied-tools', 'Task(x)', 'Uses are commands, files and addresses'],
  ])('H3: a pattern that fits nothing is an error: %s %s', async (option, pattern, hint) => {
    const repo = withStandIn(testRepo())
    const ran = await run(repo, [option, pattern], { sh: 'touch x' })
    expect(ran).toMatchObject({ code: 2, json: { ok: false, error: { code: 'WT_019' } } })
    expect(ran.json.error.hint).toContain(hint)
    expect(await library(repo).list()).toEqual([])
  })

  test('H3: a use with brackets and commas in it is one use', async () => {
    const repo = withStandIn(testRepo())
    const allowed = `Bash(node -e "f(1, 2)"),mcp__*,Bash(sh -c 'touch (x)'),Bash(touch "a,b")`
    const ran = await run(
      repo,
      ['--policy', 'strict', '--allowed-tools', allowed],
      { sh: 'touch a,b' },
      { sh: 'touch a' },
    )
    expect(ran.code).toBe(0)
    const { path: workspace } = await library(repo).show('T1')
    expect(readdirSync(workspace).filter((name) => name.startsWith('a'))).toEqual(['a,b', 'a.txt'])
  })
})
