/** An agent that tries to get around the hooks by which it asks. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { offshoot, type Outcome, type TestRepo, testRepo } from '../support/repo.ts'
import { type Act, play, withStandIn } from '../support/stand-in.ts'
import { withEnv } from '../support/workspace.ts'

interface Line extends Record<string, unknown> {
  readonly event?: string
}

const linesOf = ({ stdout }: Outcome) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)

const told = (outcome: Outcome, event: string) => linesOf(outcome).filter((line) => line.event === event)

/** A user with an agent whose hooks are programs, and a folder for temporary files of their own. */
function withCodex(): TestRepo & { readonly temp: string } {
  const repo = testRepo()
  const temp = path.join(repo.home, 'temp')
  mkdirSync(temp)
  return { ...withEnv(withStandIn(repo, 'codex'), { TMPDIR: temp }), temp }
}

const runs = (repo: TestRepo, acts: readonly Act[], ...args: string[]) =>
  offshoot(repo, 'run', '--task', 'T1', '--agent', 'codex', '--json', ...args, play(...acts))

const inWorkspace = async (repo: TestRepo, file: string) =>
  path.join((await offshoot(repo, 'show', 'T1', '--json')).json.task.path as string, file)

test('G12, H5a: an agent that may write to the temporary folder finds no hook to edit there', async () => {
  const repo = withCodex()
  const edit = `for f in "$TMPDIR"/*/*; do echo 'process.stdout.write("{}")' > "$f"; done`
  const ran = await runs(repo, [{ sh: edit }, { sh: 'touch pwned' }], '--denied-tools', 'Bash(touch *)')
  expect(existsSync(await inWorkspace(repo, 'pwned'))).toBe(false)
  expect(told(ran, 'decided').map(({ allow }) => allow)).toEqual([true, false])
})

test('G12, H5b: a cleaner of the temporary folder switches no hook off', async () => {
  const repo = withCodex()
  const ran = await runs(repo, [{ sh: 'rm -rf "$TMPDIR"/*' }, { sh: 'echo two > two.txt' }])
  expect(ran.code).toBe(0)
  expect(told(ran, 'decided').map(({ summary }) => summary)).toEqual([
    'rm -rf "$TMPDIR"/*',
    'echo two > two.txt',
  ])
})

test('G12, H5b: a hook that gets no answer denies, and says why', async () => {
  const repo = withCodex()
  const cut = 'find "$OFFSHOOT_HOME" "$TMPDIR" -type s -delete'
  const ran = await runs(repo, [{ sh: cut }, { sh: 'touch pwned' }])
  expect(existsSync(await inWorkspace(repo, 'pwned'))).toBe(false)
  const texts = told(ran, 'message').map(({ text }) => text)
  expect(texts.at(-1)).toBe('PreToolUse 2 offshoot did not answer, so the call is denied')
})

test('G12, H5b: a hook whose Node cannot start denies, and says why', async () => {
  const repo = withCodex()
  const agent = path.join(repo.home, 'bin', 'codex')
  const [first = '', ...rest] = readFileSync(agent, 'utf8').split('\n')
  const broken = `process.env.NODE_OPTIONS = '--require=/no/such/file'`
  writeFileSync(agent, [first, broken, ...rest].join('\n'))
  const ran = await runs(repo, [{ sh: 'touch pwned' }])
  expect(existsSync(await inWorkspace(repo, 'pwned'))).toBe(false)
  expect(String(told(ran, 'message').at(-1)?.text)).toMatch(/^PreToolUse 2 .*offshoot did not answer/s)
})

test('G12, H5: the socket is for the user alone, below the state folder', async () => {
  const repo = withCodex()
  const find = 'find "$OFFSHOOT_HOME" "$TMPDIR" -type s > sockets.txt'
  expect((await runs(repo, [{ sh: find }])).code).toBe(0)
  const sockets = readFileSync(await inWorkspace(repo, 'sockets.txt'), 'utf8')
    .trim()
    .split('\n')
  expect(sockets).toHaveLength(1)
  expect(sockets[0]).toMatch(new RegExp(`^${repo.home}/state/run-folders/`))
  expect(statSync(path.join(repo.home, 'state')).mode & 0o777).toBe(0o700)
})

/** Sends a body to the socket of the run. */
const send = (body: string, headers: string) =>
  `S=$(find "$OFFSHOOT_HOME" "$TMPDIR" -type s); ${process.execPath} -e '
    const request = { socketPath: process.argv[1], method: "POST", headers: ${headers} }
    require("http").request(request, (r) => console.log(r.statusCode)).on("error", () => {}).end(${body})' "$S"`

const withKey = '{ authorization: process.env.OFFSHOOT_INTERNAL_BRIDGE ?? "" }'

test.each([
  ['G12, H5: whoever does not know the key of the run gets no answer', `"{}"`, '{}', 'without the key'],
  ['M5: a question that is no JSON', `"not json"`, withKey, 'JSON'],
  ['M5: a question of the wrong form', `"{\\"tool_name\\": 7}"`, withKey, 'hook.tool_name is no string'],
  ['M5: a question that is null', `"null"`, withKey, 'hook is no object'],
  ['M5: a question of 20 MB', `Buffer.alloc(20e6, 32)`, withKey, 'more than 16777216 bytes'],
])('%s is told, and the run goes on', async (_, body, headers, reason) => {
  const repo = withCodex()
  const ran = await runs(repo, [{ sh: send(body, headers) }, { sh: 'echo two > two.txt' }])
  expect(ran).toMatchObject({ code: 0, json: { ok: true, task: { state: 'completed' } } })
  expect(told(ran, 'malformed')).toHaveLength(1)
  expect(told(ran, 'malformed')[0]?.reason).toContain(reason)
  expect(existsSync(await inWorkspace(repo, 'two.txt'))).toBe(true)
})

test.each(['claude', 'codex'] as const)(
  'G12, H5: a tool that ran without asking ends the run of %s, and what it did is a step',
  async (agent) => {
    const repo = withStandIn(testRepo(), agent)
    const prompt = play(
      { sh: 'echo one > one.txt' },
      { sneak: 'echo sneaked > sneaked.txt' },
      { sh: 'touch late' },
    )
    const ran = await offshoot(repo, 'run', '--task', 'T1', '--agent', agent, '--json', prompt)
    expect(ran).toMatchObject({ code: 1, json: { ok: false, error: { code: 'WT_018' } } })
    const { task } = (await offshoot(repo, 'show', 'T1', '--json')).json as { task: Line }
    expect(task.state).toBe('failed')
    expect(task.reason).toContain('without asking')
    const { checkpoints } = (await offshoot(repo, 'log', 'T1', '--json')).json as { checkpoints: Line[] }
    const files = checkpoints.map(({ files }) => (files as { path: string }[]).map((file) => file.path))
    expect(files[0]).toEqual(['one.txt'])
    expect(files.flat()).toContain('sneaked.txt')
  },
)

test('G12, H5: the prompt is in no argument of the agent, where everybody can read it', async () => {
  const repo = withCodex()
  const ran = await runs(repo, [{ sh: `tr '\\0' '\\n' < /proc/$PPID/cmdline > line.txt # in-the-prompt` }])
  expect(ran.code).toBe(0)
  expect(readFileSync(await inWorkspace(repo, 'line.txt'), 'utf8')).not.toContain('in-the-prompt')
})

test('resume: an id that looks like an option is neither kept nor handed to the agent', async () => {
  const bad = '--dangerously-skip-permissions'
  const repo = withEnv(withStandIn(testRepo()), { STAND_IN_SESSION: bad })
  const ran = await offshoot(repo, 'run', '--task', 'T1', '--agent', 'claude', '--json', play({ say: 'Hi.' }))
  expect(ran.code).toBe(0)
  expect(ran.json.conversation).toBeUndefined()
  expect(told(ran, 'malformed')).toHaveLength(1)
  const again = await offshoot(
    repo,
    'run',
    '--task',
    'T1',
    `--resume=${bad}`,
    '--agent',
    'claude',
    '--json',
    'x',
  )
  expect(again).toMatchObject({ code: 2, json: { ok: false } })
})
