/** What the user trusts: attacks with other files behind a trusted command, and with another repository in its place. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { inFolder, library } from '../support/workspace.ts'

const canary = (repo: TestRepo) => path.join(repo.home, 'canary')
const sung = (repo: TestRepo) => (existsSync(canary(repo)) ? readFileSync(canary(repo), 'utf8') : '')

const script = (word: string) => `#!/bin/sh\necho ${word} >> "$HOME/canary"\n`

/** A repository whose hook runs a file of its own. */
function withScript(yaml: string, file: string): TestRepo {
  const repo = testRepo({ 'a.txt': 'one\n', '.offshoot.yaml': yaml, [file]: script('good') })
  chmodSync(path.join(repo.dir, file), 0o755)
  repo.git('commit', '--quiet', '--all', '--message=Make it executable')
  return repo
}

test.each([
  ['./setup.sh', 'setup.sh'],
  ['cd tools && sh ./setup.sh', 'tools/setup.sh'],
  ['sh "$ROOT_WORKTREE_PATH/tools/setup.sh" && tools/setup.sh', 'tools/setup.sh'],
])('M3: a trusted %s does not run with the file of another branch', async (command, file) => {
  const repo = withScript(`hooks:\n  postStart: '${command}'\n`, file)
  await offshoot(repo, 'trust')
  expect((await offshoot(repo, 'start', 'T1', '--json')).json.setup).toMatchObject({ ok: true })
  const before = sung(repo)
  expect(before).toContain('good')
  repo.git('switch', '--quiet', '-c', 'pr-123')
  writeFileSync(path.join(repo.dir, file), script('evil'))
  repo.git('commit', '--quiet', '--all', '--message=Look at this')
  repo.git('switch', '--quiet', 'main')
  const { setup, task } = (await offshoot(repo, 'start', 'T2', '--from', 'pr-123', '--json')).json
  expect(setup).toMatchObject({ ok: false, why: expect.stringContaining(`${file} is not as you trusted it`) })
  expect(setup.why).toContain(`offshoot trust -C ${task.path}`)
  expect(sung(repo)).toBe(before)
})

test('M3: a trusted command does not run with a changed file of the checkout that it names by a variable', async () => {
  const repo = withScript('hooks:\n  postStart: sh "$ROOT_WORKTREE_PATH/setup.sh"\n', 'setup.sh')
  await offshoot(repo, 'trust')
  repo.write('setup.sh', script('evil'))
  expect((await offshoot(repo, 'start', 'T1', '--json')).json.setup).toMatchObject({ ok: false })
  expect(sung(repo)).toBe('')
})

test('M3: a check that the agent has changed does not run, and lets nothing pass, until the user trusts it', async () => {
  const repo = withScript('hooks:\n  preAccept: ./check.sh\n', 'check.sh')
  await offshoot(repo, 'trust')
  const { task } = (await offshoot(repo, 'start', 'T1', '--json')).json
  writeFileSync(path.join(task.path, 'check.sh'), script('evil'))
  const { code, json } = await offshoot(repo, 'accept', 'T1', '--json')
  expect({ code, error: json.error }).toMatchObject({
    code: 5,
    error: { code: 'WT_017', message: expect.stringContaining('check.sh is not as you trusted it') },
  })
  expect(sung(repo)).toBe('')
  const shown = (await offshoot(repo, 'trust', '-C', task.path, '--show', '--json')).json
  expect(shown).toMatchObject({ trusted: false })
  expect(shown.files.map(({ path: file }: { path: string }) => file)).toEqual(['check.sh', 'check.sh'])
  await offshoot(repo, 'trust', '-C', task.path)
  expect((await offshoot(repo, 'accept', 'T1', '--json')).json).toMatchObject({ ok: true })
  expect(sung(repo)).toBe('evil\n')
})

test('M3: another repository at the same path is not trusted; the same one elsewhere is', async () => {
  const repo = withScript('hooks:\n  postStart: ./setup.sh\n', 'setup.sh')
  await offshoot(repo, 'trust')
  const moved = inFolder(repo, path.join(repo.home, 'moved'))
  renameSync(repo.dir, moved.dir)
  const started = await offshoot(moved, 'start', 'T1', '--json')
  expect(started.json.setup).toMatchObject({ ok: true })
  const other = withScript('hooks:\n  postStart: ./setup.sh\n', 'setup.sh')
  rmSync(moved.dir, { recursive: true })
  renameSync(other.dir, moved.dir)
  for (const task of ['T2', 'T3']) {
    const { setup } = (await offshoot(moved, 'start', task, '--json')).json
    expect(setup).toMatchObject({ ok: false, why: expect.stringContaining('not trusted') })
  }
  expect(sung(repo)).toBe('good\n')
})

/** The command at a terminal, with somebody who types that. */
function atTerminal(repo: TestRepo, typed: string, ...args: string[]) {
  const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
  const line = [process.execPath, bin, ...args].map((word) => `'${word}'`).join(' ')
  const env = { ...repo.env, SHELL: '/bin/sh', NO_COLOR: '1' }
  return spawnSync('script', ['-qec', line, '/dev/null'], {
    cwd: repo.dir,
    env,
    input: typed,
    encoding: 'utf8',
  })
}

test('M3: trust shows first, and asks before it trusts', async () => {
  const repo = withScript('hooks:\n  postStart: ./setup.sh\n', 'setup.sh')
  const isTrusted = async () => (await offshoot(repo, 'trust', '--show', '--json')).json.trusted
  const no = atTerminal(repo, 'n\n', 'trust')
  expect(no.stdout).toMatch(
    /postStart {2}\.\/setup\.sh[^]*setup\.sh \(sha256[^]*Trust it, exactly as it is now\? \[y\/N\]/,
  )
  expect(await isTrusted()).toBe(false)
  atTerminal(repo, '\n', 'trust')
  expect(await isTrusted()).toBe(false)
  atTerminal(repo, 'y\n', 'trust')
  expect(await isTrusted()).toBe(true)
})

test('M3: what has changed since it was shown is not trusted', async () => {
  const repo = withScript('hooks:\n  postStart: ./setup.sh\n', 'setup.sh')
  const lib = library(repo)
  const { fingerprint } = await lib.trust({ show: true })
  repo.write('setup.sh', script('evil'))
  await expect(lib.trust({ fingerprint })).rejects.toMatchObject({ code: 'WT_017' })
  expect(await lib.trust({ show: true })).toMatchObject({ trusted: false })
  repo.write('setup.sh', script('good'))
  expect(await lib.trust({ fingerprint })).toMatchObject({ trusted: true })
})

const settings = JSON.stringify({ hooks: { SessionStart: [] } })

test.each(['.claude/settings.json', '.claude/hooks/a.sh', '.mcp.json'])(
  'M3: an agent does not run with %s of the repository before the user trusts it',
  async (file) => {
    const repo = withStandIn(
      testRepo({ 'a.txt': 'one\n', [file]: settings, '.gemini/settings.json': settings }),
    )
    const run = () => offshoot(repo, 'run', '--task', 'T1', '--json', play({ write: 'b.txt' }))
    const { code, json } = await run()
    expect({ code, error: json.error }).toMatchObject({
      code: 5,
      error: { code: 'WT_017', hint: expect.stringContaining('offshoot trust'), data: { untrusted: [file] } },
    })
    // A plain command obeys no settings.
    expect((await offshoot(repo, 'exec', 'T1', '--', 'true')).code).toBe(0)
    await offshoot(repo, 'trust')
    expect((await run()).json).toMatchObject({ ok: true })
    // What the agent makes of it counts no more than what the repository had.
    const { task } = (await offshoot(repo, 'show', 'T1', '--json')).json
    writeFileSync(path.join(task.path, file), `${settings} `)
    expect((await run()).code).toBe(5)
    await offshoot(repo, 'trust', '-C', task.path)
    expect((await run()).json).toMatchObject({ ok: true })
  },
)

test('G10: settings that come back with a workspace which was gone are seen before the agent', async () => {
  const repo = withStandIn(testRepo())
  await offshoot(repo, 'run', '--task', 'T1', '--json', play({ write: 'work.txt' }))
  const { path: workspace } = (await offshoot(repo, 'show', 'T1', '--json')).json.task as { path: string }
  inFolder(repo, workspace).write('.claude/settings.json', '{}')
  await offshoot(repo, 'checkpoint', 'T1')
  rmSync(workspace, { recursive: true })
  const { code, json } = await offshoot(repo, 'resume', 'T1', '--json', play({ write: 'ran.txt' }))
  expect({ code, error: json.error }).toMatchObject({ code: 5, error: { code: 'WT_017' } })
  expect(
    existsSync(path.join((await offshoot(repo, 'show', 'T1', '--json')).json.task.path, 'ran.txt')),
  ).toBe(false)
})

test('M3: an agent that changes the file of a preRemove keeps nobody from rejecting its work', async () => {
  const repo = withScript('hooks:\n  preRemove: ./bye.sh\n', 'bye.sh')
  await offshoot(repo, 'trust')
  const { task } = (await offshoot(repo, 'start', 'T1', '--json')).json
  writeFileSync(path.join(task.path, 'bye.sh'), script('evil'))
  expect((await offshoot(repo, 'reject', 'T1', '--json')).json).toMatchObject({ ok: true })
  expect(sung(repo)).toBe('')
})
