/** I1: the command line as a person, a shell and a program meet it. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { type ActionName, actions } from '../../src/actions/index.ts'
import { schemas } from '../../src/protocol/schemas/index.ts'
import { offshoot, tempFolder, type TestRepo, testRepo } from '../support/repo.ts'
import { inFolder, library, nowhere, withEnv } from '../support/workspace.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
const installed = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

/** A PATH on which `offshoot` is this one, as after an installation. */
function onPath(repo: TestRepo): TestRepo {
  const folder = path.join(repo.home, 'bin')
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'offshoot'), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`, {
    mode: 0o755,
  })
  return withEnv(repo, { PATH: `${folder}:${repo.env.PATH}` })
}

const bash = (repo: TestRepo, script: string) =>
  execFileSync('bash', ['--norc', '-c', script], { cwd: repo.dir, env: repo.env, encoding: 'utf8' })

async function withTasks(...ids: string[]) {
  const repo = testRepo()
  const work = library(repo)
  const tasks = []
  for (const task of ids) tasks.push((await work.start({ task })).task)
  return { repo, work, tasks }
}

describe('help', () => {
  test.each(commands.map(({ name }) => name))('I1: %s --help shows usage and examples', async (name) => {
    const { code, stdout, stderr } = await offshoot(nowhere(), ...name.split(' '), '--help')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(`\nUsage: offshoot ${name}`)
    expect(stdout).toMatch(/\nExamples:\n {2}\S/)
    for (const option of ['-C', '--json', '--quiet', '--verbose', '--no-color', '--help']) {
      expect(stdout).toContain(option)
    }
  })

  test('I1: --help lists every command', async () => {
    const { code, stdout } = await offshoot(nowhere(), '--help')
    expect(code).toBe(0)
    for (const { name, summary } of commands.filter(({ aliasOf }) => aliasOf === undefined))
      expect(stdout).toMatch(new RegExp(`^  ${name} +${summary.slice(0, 9)}`, 'm'))
    expect((await offshoot(nowhere(), 'help')).stdout).toBe(stdout)
  })

  test('I1: help COMMAND is what COMMAND --help prints', async () => {
    for (const command of [['accept'], ['worktree', 'remove']]) {
      const asked = await offshoot(nowhere(), ...command, '--help')
      expect(await offshoot(nowhere(), 'help', ...command)).toEqual(asked)
    }
    expect(await offshoot(nowhere(), 'help', 'frob')).toMatchObject({ code: 2 })
  })

  test('I1: --version is that of the package', async () => {
    for (const asked of ['--version', '-v', 'version'])
      expect((await offshoot(nowhere(), asked)).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

describe('--json', () => {
  test('I1: every answer is one object in the shape of its action', async () => {
    const repo = withEnv(testRepo(), { OFFSHOOT_ISOLATION_FALLBACK: 'direct' })
    repo.git('config', 'user.name', 'User')
    repo.git('config', 'user.email', 'user@example.com')
    repo.write('conductor.json', '{ "scripts": { "setup": "true" } }\n')
    const answers: [ActionName, string[]][] = [
      ['task.start', ['start', 'T1']],
      ['task.start', ['start', 'T1']],
      ['task.start', ['worktree', 'create', '--task', 'T2', '--branch', 'b', '--from', 'main']],
      ['task.list', ['list']],
      ['task.list', ['list', '--all', '--state', 'active']],
      ['worktree.list', ['worktree', 'list']],
      ['task.show', ['show', 'T1']],
      ['task.show', ['worktree', 'show', '--task', 'T2']],
      ['task.run', ['run', '--task', 'T1', '--', 'sh', '-c', 'echo b > b.txt']],
      ['task.run', ['exec', 'T1', '--', 'sh', '-c', 'echo c > c.txt']],
      ['system.direct', ['-C', repo.home, 'run', '--', 'true']],
      ['task.install', ['agents', 'install', 'T1']],
      ['task.stop', ['stop', 'T1']],
      ['task.compare', ['compare', 'T1', 'T2']],
      ['task.forecast', ['forecast']],
      ['task.forecast', ['forecast', '--after', 'T1']],
      ['task.checkpoint', ['checkpoint', 'T1', '--tool', 'Edit', '--summary', 'Nothing']],
      ['task.log', ['log', 'T1']],
      ['task.diff', ['diff', 'T1', '--step', '1..2', '--stat']],
      ['task.rewind', ['rewind', 'T1', '--to', '1']],
      ['task.repair', ['repair', 'T1']],
      ['task.repair', ['repair', '--rebuild']],
      ['task.prune', ['worktree', 'prune', '--older-than', '0m', '--dry-run']],
      ['task.prune', ['prune']],
      ['system.agents', ['agents']],
      ['system.disk', ['list', '--disk']],
      ['system.import', ['config', 'import', '--dry-run']],
      ['system.doctor', ['doctor']],
      ['system.orphans', ['doctor', '--orphans']],
      ['system.pool', ['pool', '--clear']],
      ['system.trust', ['trust']],
      ['system.recover', ['recover']],
      ['system.repos', ['repos']],
      ['system.config', ['config', '--show-origin']],
      ['task.update', ['update', 'T1']],
      ['task.accept', ['accept', 'T1', '--dry-run']],
      ['task.accept', ['accept', 'T1', '--as', 'squash', '-m', 'Land it']],
      ['system.ops', ['ops']],
      ['system.undo', ['undo']],
      ['system.audit', ['audit', '--since', '1d']],
      ['system.audit', ['audit', '--verify']],
      ['task.reject', ['reject', 'T1', '--keep-branch']],
      ['worktree.remove', ['worktree', 'remove', '--task', 'T2']],
      ['worktree.remove', ['worktree', 'remove', '--task', 'T2']],
      ['task.start', ['start', 'T3', '--isolation', 'clone']],
      ['task.delete', ['delete', 'T3']],
      ['task.show', ['show', 'T1']],
      ['task.list', ['list', '--all']],
      ['token.create', ['token', 'create', '--scope', 'look']],
      ['token.list', ['token', 'list']],
      ['system.forget', ['repos', 'forget', '.']],
    ]
    // A library asks these; no command answers with them.
    const unprinted = ['task.find', 'task.exists', 'task.plan', 'system.notices']
    // These need a run at work, a daemon, or the id of a token: runs/ and doors/ compare them with their schemas.
    const elsewhere = [
      'task.answer',
      'task.say',
      'task.attach',
      'task.detach',
      'token.revoke',
      'system.queue',
    ]
    expect(new Set([...answers.map(([action]) => action), ...unprinted, ...elsewhere])).toEqual(
      new Set(Object.keys(actions)),
    )
    for (const [action, args] of answers) {
      const { code, stdout, stderr } = await offshoot(repo, '--json', ...args)
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
      const [answer, ...events] = stdout.trimEnd().split('\n').toReversed()
      expect({ args, events: action === 'task.run' ? 0 : events.length }).toEqual({ args, events: 0 })
      const { ok, ...rest } = JSON.parse(answer ?? '')
      // It is told beside the tasks.
      const told = action === 'system.disk' ? rest.disk : rest
      expect({ args, ok, wrong: schemas[action].output.safeParse(told).error?.issues }).toEqual({
        args,
        ok: true,
      })
    }
  })

  test('I1: list spawns no git and says so by dirty: null; show looks at the workspace', async () => {
    const { repo, tasks } = await withTasks('T1')
    inFolder(repo, tasks[0]!.path).write('new.txt', 'new\n')
    expect((await offshoot(repo, 'show', 'T1', '--json')).json.task.dirty).toBe(true)
    const withoutGit = { ...repo, env: { ...repo.env, PATH: repo.home } }
    expect((await offshoot(withoutGit, 'list', '--json')).json.tasks).toEqual([
      expect.objectContaining({ id: 'T1', dirty: null }),
    ])
  })

  test('I1: the options may stand before the command', async () => {
    const { repo } = await withTasks('T1')
    const { json } = await offshoot(inFolder(repo, repo.home), '--json', '-C', 'repo', 'list')
    expect(json).toMatchObject({ ok: true, tasks: [{ id: 'T1' }] })
  })
})

describe('for a person', () => {
  test('I1: list is a table on stdout; of nothing, one line on stderr that --quiet takes away', async () => {
    const repo = testRepo()
    expect(await offshoot(repo, 'list')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(/^No tasks/),
    })
    expect(await offshoot(repo, 'list', '--quiet')).toMatchObject({ code: 0, stdout: '', stderr: '' })
    await library(repo).start({ task: 'T1' })
    const { stdout } = await offshoot(repo, 'list')
    const [head, row] = stdout.split('\n')
    expect(head).toMatch(/^TASK +TITLE +AGENT +STATE +STEPS +FILES +LINES +AGE$/)
    expect(row).toMatch(/^T1 +active +0 +0 +\+0 -0 +now$/)
  })

  test('I1: show says all there is to know', async () => {
    const { repo, tasks } = await withTasks('T1')
    const { stdout } = await offshoot(repo, 'show', 'T1')
    for (const part of ['T1', 'active', tasks[0]!.path, 'offshoot/T1 at ', 'main at '])
      expect(stdout).toContain(part)
    expect(stdout).toMatch(/^uncommitted +no$/m)
  })

  test('I1: a reader that goes away early is no failure', async () => {
    const { repo } = await withTasks('T1', 'T2')
    for (const args of [['list'], ['list', '--json'], ['--help']]) {
      const child = spawn(process.execPath, [bin, ...args], { cwd: repo.dir, env: repo.env })
      let stderr = ''
      child.stderr.on('data', (chunk) => (stderr += chunk))
      child.stdout.destroy()
      expect([args, ...(await once(child, 'close')), stderr]).toEqual([args, 0, null, ''])
    }
    const piped = bash(onPath(repo), 'set -o pipefail; offshoot list | head -1; echo "${PIPESTATUS[@]}"')
    expect(piped).toMatch(/^TASK .*\n0 0\n$/)
  })

  test('I1: config shows each setting, and --show-origin where it comes from', async () => {
    const repo = testRepo({ '.offshoot.yaml': 'limits:\n  perRepo: 3\nprune:\n  minKeep: 5\n' })
    const asked = withEnv(repo, { OFFSHOOT_PRUNE_MIN_KEEP: '7' })
    const { stdout } = await offshoot(asked, 'config', '--show-origin')
    expect(stdout).toMatch(/^limits\.perRepo +3 +\/.*\/\.offshoot\.yaml$/m)
    expect(stdout).toMatch(/^prune\.minKeep +7 +OFFSHOOT_PRUNE_MIN_KEEP$/m)
    expect(stdout).toMatch(/^branch\.name +"offshoot\/\{task\}" +default$/m)
    expect((await offshoot(asked, 'config')).stdout).toMatch(/^limits\.perRepo +3$/m)
    expect((await offshoot(inFolder(repo, repo.home), 'config')).code).toBe(0)
  })

  test('I1: repos lists what is known; doctor is content and says what it is about', async () => {
    const { repo } = await withTasks('T1')
    expect((await offshoot(repo, 'repos')).stdout).toMatch(/^repo-\w+ +1 open +\/.*\/repo\/\.git\n$/)
    const { code, stdout } = await offshoot(repo, 'doctor')
    expect(code).toBe(0)
    for (const name of ['git', 'state folder', 'repository', 'settings', 'tasks']) {
      expect(stdout).toMatch(new RegExp(`^(ok|warn) +${name}: `, 'm'))
    }
  })

  test('R7: doctor tells what is wrong instead of failing over it', async () => {
    const repo = testRepo({ '.offshoot.yaml': 'nonsense: 1\n' })
    const broken = withEnv(repo, { OFFSHOOT_HOME: path.join(repo.dir, '.offshoot.yaml') })
    const { code, json } = await offshoot(broken, 'doctor', '--json')
    expect(code).toBe(1)
    const status = Object.fromEntries(
      json.checks.map((check: { name: string; status: string }) => [check.name, check.status]),
    )
    expect(status).toMatchObject({ 'state folder': 'fail', repository: 'ok', settings: 'fail' })
    const found: { name: string; status: string; why?: string }[] = json.checks
    expect(found.filter((check) => check.status !== 'ok' && !check.why)).toEqual([])
  })

  test('I6: doctor tells of every variable that looks like a setting and is none, with the one that was meant', async () => {
    const repo = withEnv(testRepo(), { OFFSHOOT_LIMIT_PER_REPO: '30', OFFSHOOT_HOOKS: 'x' })
    const { code, json } = await offshoot(repo, 'doctor', '--json')
    expect(code).toBe(0)
    expect(json.checks).toContainEqual({
      name: 'settings',
      status: 'warn',
      message: 'unknown setting OFFSHOOT_LIMIT_PER_REPO',
      why: 'It has no effect.',
      hint: 'Did you mean OFFSHOOT_LIMITS_PER_REPO?',
    })
    expect(json.checks).toContainEqual(
      expect.objectContaining({
        message: 'unknown setting OFFSHOOT_HOOKS',
        hint: 'offshoot config shows the settings.',
      }),
    )
  })
})

describe('a task by name', () => {
  test('I1: to look, a prefix that fits one open task will do', async () => {
    const { repo, tasks } = await withTasks('alpha-1', 'alpha-2', 'beta')
    expect((await offshoot(repo, 'show', 'b', '--json')).json.task.id).toBe('beta')
    expect((await offshoot(repo, 'cd', 'alpha-2')).stdout).toBe(`${tasks[1]!.path}\n`)
    const { code, json } = await offshoot(repo, 'show', 'alpha', '--json')
    expect({ code, error: json.error.code }).toEqual({ code: 3, error: 'WT_007' })
    expect(json.error.message).toMatch(/alpha-2, alpha-1|alpha-1, alpha-2/)
    expect(await offshoot(repo, 'show', 'gamma', '--json')).toMatchObject({
      code: 3,
      json: { error: { code: 'WT_007' } },
    })
  })

  test('I1: to remove, it will not', async () => {
    const { repo } = await withTasks('beta')
    for (const args of [['b'], ['--task', 'b']]) {
      expect(await offshoot(repo, 'worktree', 'remove', ...args)).toMatchObject({ code: 3 })
    }
  })

  test('I1: inside a workspace it may be left out, in a subfolder too', async () => {
    const { repo, tasks } = await withTasks('T1', 'T2')
    mkdirSync(path.join(tasks[1]!.path, 'deep'))
    const inside = inFolder(repo, path.join(tasks[1]!.path, 'deep'))
    expect((await offshoot(inside, 'show', '--json')).json.task.id).toBe('T2')
    expect((await offshoot(inside, 'cd')).stdout).toBe(`${tasks[1]!.path}\n`)
    expect((await offshoot(inside, 'worktree', 'show', '--json')).json.task.id).toBe('T2')
    expect((await offshoot(inside, 'list', '--json')).json.tasks).toHaveLength(2)
  })

  test('I1: cd to a workspace that is gone fails instead of printing where it was', async () => {
    const { repo, work } = await withTasks('T1')
    await work.remove({ task: 'T1' })
    const { code, stdout, stderr } = await offshoot(repo, 'cd', 'T1')
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(stderr).toContain('WT_005')
  })
})

describe('the shell', () => {
  test.each([
    ['bash', ['-n']],
    ['zsh', ['-n']],
    ['fish', ['--no-execute']],
  ])('I1: the completion for %s is a script that it can read', async (shell, args) => {
    const { code, stdout } = await offshoot(nowhere(), 'completion', shell)
    expect(code).toBe(0)
    expect(stdout).toContain('complete')
    const script = path.join(tempFolder(), 'script')
    writeFileSync(script, stdout)
    if (installed(shell)) execFileSync(shell, [...args, script])
  })

  test('I1: bash completes verbs, groups, options, shells and open tasks', async () => {
    const { repo } = await withTasks('alpha-1', 'alpha-2', 'beta')
    const at = onPath(repo)
    const words = (...typed: string[]) =>
      bash(
        at,
        `eval "$(offshoot completion bash)"; COMP_WORDS=(offshoot ${typed.map((word) => `'${word}'`).join(' ')})
         COMP_CWORD=${typed.length}; _offshoot; printf '%s\\n' "\${COMPREPLY[@]}"`,
      )
        .split('\n')
        .filter(Boolean)
    expect(words('star')).toEqual(['start'])
    expect(new Set(words(''))).toEqual(new Set(commands.map(({ name }) => name.split(' ')[0])))
    expect(words('worktree', 're')).toEqual(['remove'])
    expect(words('agents', 'in')).toEqual(['install'])
    expect(words('agents', 'install', 'b')).toEqual(['beta'])
    expect(words('start', '--fr')).toEqual(['--from'])
    expect(words('worktree', 'remove', '--ke')).toEqual(['--keep-branch'])
    expect(words('completion', 'z')).toEqual(['zsh'])
    expect(words('show', 'al').toSorted()).toEqual(['alpha-1', 'alpha-2'])
    expect(words('worktree', 'remove', 'b')).toEqual(['beta'])
    expect(words('list', 'al')).toEqual([])
    expect(words('accept', '--as', 's')).toEqual(['squash'])
    expect(words('accept', 'alpha-1', '--conflicts', '')).toEqual(['fail', 'markers'])
    expect(words('run', '--policy', '')).toEqual(['permissive', 'moderate', 'strict'])
    expect(words('run', '--agent', 'co')).toEqual(['codex', 'command'])
    expect(words('run', '--task', 'b')).toEqual(['beta'])
    expect(words('start', '--isolation', 'c')).toEqual(['clone'])
    expect(words('list', '--state', 'a')).toEqual(['active', 'accepted'])
    at.git('branch', 'release')
    expect(words('accept', '--onto', 're')).toEqual(['release'])
    expect(words('worktree', 'create', '--from', 're')).toEqual(['release'])
  })

  test('I1: with the integration offshoot cd changes folder, and a failed one stays', async () => {
    const { repo, tasks } = await withTasks('T1')
    const script = `eval "$(offshoot completion bash)"; offshoot cd T1; pwd; offshoot cd nope 2>/dev/null || pwd; offshoot cd --help | head -1`
    const [there, still, help] = bash(onPath(repo), script).split('\n')
    expect([there, still]).toEqual([tasks[0]!.path, tasks[0]!.path])
    expect(help).toContain('Print the path')
  })
})

describe.skipIf(process.platform !== 'linux' || !installed('script'))('on a terminal', () => {
  const esc = '\u001b['
  const onTerminal = (repo: TestRepo, args: string, env: Record<string, string> = {}) =>
    spawnSync('script', ['--quiet', '--return', '--command', `offshoot ${args}`, '/dev/null'], {
      cwd: repo.dir,
      env: { ...onPath(repo).env, TERM: 'xterm', ...env },
      encoding: 'utf8',
    }).stdout

  test('I1: there are colours, and they are colours, not their codes', async () => {
    const { repo, tasks } = await withTasks('T1')
    inFolder(repo, tasks[0]!.path).write('\u001b[2Jodd.txt', 'new\n')
    for (const args of ['start T1', 'doctor', 'show nope', 'checkpoint T1', 'log T1']) {
      const shown = onTerminal(repo, args)
      expect(shown).toContain(esc)
      expect(shown).not.toMatch(/u\{1b\}\[\d*m/)
      expect(shown).not.toContain(`${esc}2J`)
    }
  })

  test.each([
    ['NO_COLOR', '', { NO_COLOR: '1' }],
    ['--no-color', '--no-color', {}],
  ])('I1: with %s there are none, in errors neither', async (_, flag, env) => {
    const { repo } = await withTasks('T1')
    for (const args of ['start T1', 'doctor', 'show nope']) {
      expect(onTerminal(repo, `${args} ${flag}`, env)).not.toContain(esc)
    }
  })

  test('K6: a diff and a log go through the user’s pager, which the repository cannot choose', async () => {
    const { repo, tasks } = await withTasks('T1')
    inFolder(repo, tasks[0]!.path).write('a.txt', 'changed\n')
    repo.git('config', 'core.pager', 'echo planted; cat')
    await offshoot(repo, 'checkpoint', 'T1')
    for (const args of ['diff T1', 'log T1']) {
      expect(onTerminal(repo, args, { PAGER: 'sed s/^/paged:/' })).toMatch(/^paged:/)
      expect(onTerminal(repo, args, { PAGER: 'no-such-pager' })).toContain('a.txt')
      expect(onTerminal(repo, args, { PAGER: 'head -n 0' })).toBe('')
      expect(onTerminal(repo, args)).not.toContain('planted')
    }
    expect((await offshoot(repo, 'diff', 'T1')).stdout).toMatch(/^diff --git/)
  })

  test('I1: the demo shows colours as colours', async () => {
    const shown = onTerminal(nowhere(), 'demo')
    expect(shown).toContain(esc)
    expect(shown).not.toContain('u{1b}')
    expect(shown).toContain('That was all real')
  })
})
