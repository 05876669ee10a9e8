import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { hook } from '../support/claude-hook.ts'
import { offshoot, testRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { withEnv } from '../support/workspace.ts'

test('G6: a worktree that Claude Code asks for is a task, its tool calls are steps, and what it removes can come back', async () => {
  const repo = testRepo()
  const made = await hook(repo, 'WorktreeCreate', { name: 'x1' })
  const folder = made.stdout.trim()
  expect((await offshoot(repo, 'show', 'x1', '--json')).json.task).toMatchObject({ id: 'x1', path: folder })
  writeFileSync(path.join(folder, 'new.txt'), 'new\n')
  const tool = { cwd: folder, tool_name: 'Write', tool_input: { file_path: 'new.txt' }, tool_use_id: 'c1' }
  expect(await hook(repo, 'PostToolUse', tool)).toMatchObject({ code: 0 })
  expect((await offshoot(repo, 'log', 'x1', '--json')).json.checkpoints).toMatchObject([
    { tool: 'Write', summary: 'new.txt', call: 'c1', files: [{ path: 'new.txt', status: 'added' }] },
  ])
  expect(await hook(repo, 'WorktreeRemove', { worktree_path: folder })).toMatchObject({ code: 0 })
  expect(existsSync(folder)).toBe(false)
  await offshoot(repo, 'undo')
  expect(existsSync(path.join(folder, 'new.txt'))).toBe(true)
  expect(await hook(repo, 'Nothing', {})).toMatchObject({ code: 2 })
})

test('G17: in a run the same hooks name the workspace, and remove nothing', async () => {
  const repo = withStandIn(testRepo())
  const bin = path.resolve('bin/offshoot.js')
  const call = (event: string) =>
    `echo '${JSON.stringify({ cwd: repo.dir, name: 'x2' })}' | '${process.execPath}' '${bin}' hook claude ${event}`
  const acts = [
    { sh: `${call('WorktreeCreate')} > named.txt` },
    { sh: `${call('WorktreeRemove')} > removed.txt` },
  ]
  const { code, json } = await offshoot(repo, 'run', '--task', 'T1', '--json', play(...acts))
  expect(code).toBe(0)
  const task = json.task as { path: string }
  const said = (name: string) => readFileSync(path.join(task.path, name), 'utf8')
  expect(said('named.txt')).toBe(`${task.path}\n`)
  expect(said('removed.txt')).toBe('')
  expect((await offshoot(repo, 'list', '--json')).json.tasks).toHaveLength(1)
})

test('G6: attach opens the agent in the workspace, and its hook makes a step of each tool call', async () => {
  const plain = testRepo()
  const folder = path.join(plain.home, 'bin')
  const program = `#!${process.execPath}
const { execSync } = require('node:child_process')
const { writeFileSync } = require('node:fs')
const settings = JSON.parse(process.argv[process.argv.indexOf('--settings') + 1])
const [{ hooks: [{ command }] }] = settings.hooks.PostToolUse
const [{ hooks: [{ command: making }] }] = settings.hooks.WorktreeCreate
if (execSync(making, { input: '{"name":"x"}', encoding: 'utf8' }) !== process.cwd() + '\\n') process.exit(9)
for (const name of ['one.txt', 'two.txt']) {
  writeFileSync(name, name)
  const input = JSON.stringify({ cwd: process.cwd(), tool_name: 'Write', tool_input: { file_path: name } })
  execSync(command, { input })
}
writeFileSync('rest.txt', 'rest')
`
  mkdirSync(folder)
  writeFileSync(path.join(folder, 'claude'), program)
  chmodSync(path.join(folder, 'claude'), 0o755)
  const repo = withEnv(plain, { PATH: `${folder}:${plain.env.PATH}` })
  await offshoot(repo, 'start', 'T1')
  expect(await offshoot(repo, 'attach', 'T1')).toMatchObject({ code: 0 })
  const { checkpoints } = (await offshoot(repo, 'log', 'T1', '--json')).json
  const steps = (checkpoints as { tool: string; files: { path: string }[] }[]).map(({ tool, files }) => [
    tool,
    ...files.map((file) => file.path),
  ])
  expect(steps).toEqual([
    ['Write', 'one.txt'],
    ['Write', 'two.txt'],
    ['command', 'rest.txt'],
  ])
})

test('G6: attach without the agent’s program says so, and leaves the task as it was', async () => {
  const repo = withEnv(testRepo(), { PATH: '/usr/bin:/bin' })
  await offshoot(repo, 'start', 'T1')
  const { code, json } = await offshoot(repo, 'attach', 'T1', '--json')
  expect([code, json.error.code, json.error.message]).toEqual([3, 'WT_005', 'There is no command claude.'])
  const { task } = (await offshoot(repo, 'show', 'T1', '--json')).json
  expect(task).toMatchObject({ state: 'active', runs: 0 })
  expect(task).not.toHaveProperty('agent')
})
