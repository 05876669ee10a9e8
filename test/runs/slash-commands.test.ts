import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { fingerprint } from '../support/fingerprint.ts'
import { offshoot, testRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { inFolder, library } from '../support/workspace.ts'

const places = {
  claude: '.claude/skills/accept-session/SKILL.md',
  codex: '.agents/skills/accept-session/SKILL.md',
  opencode: '.opencode/command/offshoot/accept-session.md',
  gemini: '.gemini/commands/offshoot/accept-session.toml',
}

describe('G6: commands for the agent itself', () => {
  test('G6: are put where each agent looks, in the workspace alone, and git does not see them', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    const before = fingerprint(repo)
    const { files, skipped } = await lib.install({ task: 'T1' })
    expect(skipped).toEqual([])
    for (const file of Object.values(places)) expect(files).toContain(file)
    for (const file of files) expect(existsSync(path.join(task.path, file))).toBe(true)
    expect(inFolder(repo, task.path).git('status', '--porcelain')).toBe('')
    expect(fingerprint(repo)).toEqual(before)
  })

  test.each(['worktree', 'clone'] as const)(
    'G6: no step of a %s holds them, and they do not land, whatever the agent does with git',
    async (isolation) => {
      const repo = testRepo()
      const lib = library(repo)
      const { task } = await lib.start({ task: 'T1', isolation })
      await lib.install({ task: 'T1' })
      const at = inFolder(repo, task.path)
      at.write('work.txt', 'work\n')
      expect((await lib.checkpoint({ task: 'T1' })).checkpoint.files).toEqual([
        { path: 'work.txt', status: 'added' },
      ])
      // Git sees them from here on: the steps still do not.
      for (const file of Object.values(places)) {
        writeFileSync(path.join(task.path, path.dirname(file), '.gitignore'), '')
        at.write(file, 'changed by the agent\n')
      }
      expect(await lib.checkpoint({ task: 'T1' })).toMatchObject({ created: false })
      const { accepted } = await lib.accept({ task: 'T1' })
      expect(accepted?.files).toEqual([{ path: 'work.txt', status: 'added' }])
      expect(repo.git('status', '--porcelain')).toBe('?? work.txt\n')
    },
  )

  test('G6: a commit of the agent itself has none of them', async () => {
    const repo = testRepo()
    repo.git('config', 'user.name', 'Ursula')
    repo.git('config', 'user.email', 'ursula@example.com')
    const lib = library(repo)
    const { task } = await lib.start({ task: 'T1' })
    await lib.install({ task: 'T1' })
    const at = inFolder(repo, task.path)
    at.write('work.txt', 'work\n')
    at.git('add', '--all')
    at.git('commit', '--quiet', '--message=All of it')
    await lib.checkpoint({ task: 'T1' })
    await lib.accept({ task: 'T1', as: 'merge' })
    expect(repo.git('diff', '--name-only', 'HEAD~1', 'HEAD')).toBe('work.txt\n')
  })

  test('G6: what has the same name already stays as it is; a second time changes nothing', async () => {
    const repo = testRepo({ [places.claude]: 'mine\n' })
    const { json } = await offshoot(repo, 'start', 'T1', '--json')
    const first = await offshoot(repo, 'agents', 'install', 'T1', '--agent', 'claude', '--json')
    expect(first.json).toMatchObject({ ok: true, skipped: [places.claude] })
    expect(readFileSync(path.join(json.task.path, places.claude), 'utf8')).toBe('mine\n')
    const second = await offshoot(repo, 'agents', 'install', 'T1', '--agent', 'claude', '--json')
    expect(second.json.files).toEqual(first.json.files)
    expect(inFolder(repo, json.task.path).git('status', '--porcelain')).toBe('')
  })

  test('G6: an agent without such commands, and a task in the checkout itself, are refused', async () => {
    const repo = testRepo()
    const lib = library(repo)
    await lib.start({ task: 'T1' })
    await expect(lib.install({ task: 'T1', agent: 'command' })).rejects.toMatchObject({ code: 'WT_019' })
    await lib.start({ task: 'T2', isolation: 'branch' })
    const before = fingerprint(repo)
    await expect(lib.install({ task: 'T2' })).rejects.toMatchObject({ code: 'WT_019' })
    expect(fingerprint(repo)).toEqual(before)
  })

  test('P4: what they tell the agent to run is allowed where it looks, and a question to the user where it decides', async () => {
    const repo = withStandIn(testRepo())
    const { json } = await offshoot(repo, 'start', 'T1', '--json')
    await offshoot(repo, 'agents', 'install', 'T1')
    const page = (name: string) =>
      readFileSync(path.join(json.task.path, `.claude/skills/${name}/SKILL.md`), 'utf8')
    const commandsOf = (name: string) =>
      Array.from(
        page(name).matchAll(/[Rr]un `offshoot ([^`]+)`|, `offshoot ([^`]+)`| and `offshoot ([^`]+)`/g),
        (found) => found.slice(1).find((words) => words !== undefined),
      )
    expect(page('accept-session')).toContain('disable-model-invocation: true')
    const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
    const said = path.join(repo.home, 'said')
    const all = ['session-status', 'accept-session', 'reject-session'].flatMap(commandsOf)
    expect(all.slice(0, 5)).toEqual(['show', 'log', 'diff --stat', 'diff --stat', 'accept'])
    const acts = all.map((words) => ({
      sh: `'${process.execPath}' '${bin}' ${words} > /dev/null 2>&1; echo "${words}: $?" >> '${said}'`,
    }))
    const ran = await offshoot(repo, 'run', '--task', 'T1', '--json', play({ write: 'x.txt' }, ...acts))
    expect(ran.json.task).toMatchObject({ state: 'completed', wanted: 'reject' })
    const codes = readFileSync(said, 'utf8').trim().split('\n')
    for (const line of codes) expect(line).toMatch(/^(accept|reject): 5$|^(show|log|diff --stat): 0$/)
  })
})
