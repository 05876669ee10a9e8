import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { findMarked } from '../../src/process/marked.ts'
import { until } from '../support/processes.ts'
import { offshoot, testRepo, type TestRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { inFolder, library, nowhere, withEnv } from '../support/workspace.ts'

type Told = { event?: string; ok?: boolean } & Record<string, never>

const lines = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Told)

const stepsOf = async (repo: TestRepo, task: string) =>
  ((await offshoot(repo, 'log', task, '--json')).json.checkpoints as Step[]).map(({ tool, files }) => [
    tool,
    ...files.map((file) => file.path),
  ])

interface Step {
  readonly tool: string
  readonly files: readonly { readonly path: string }[]
  readonly calls: readonly { readonly id?: string }[]
}

describe('G1: run with a prompt', () => {
  test('G1: starts a task named after the prompt, and shows a person what goes on', async () => {
    const repo = withStandIn(testRepo())
    const ran = await offshoot(repo, 'run', play({ say: 'I begin.', sh: 'echo x > x.txt' }, { sh: 'exit 1' }))
    expect(ran).toMatchObject({ code: 0 })
    expect(ran.stderr).toContain('I begin.')
    expect(ran.stderr).toMatch(/step 1 x\.txt/)
    expect(ran.stderr).toContain('failed: Bash exit 1')
    expect(ran.stdout).toMatch(
      / completed: 1 step, 1 file, \+1 -0, \d+ s, 1 token in, 1 out\n {2}offshoot diff /,
    )
  })

  test('G1: with --json events come line by line, then the answer', async () => {
    const repo = withStandIn(testRepo())
    const ran = await offshoot(repo, 'run', '--task', 'T1', '--json', play({ say: 'Hi.', write: 'a b.txt' }))
    const told = lines(ran.stdout)
    expect(told.map(({ event }) => event)).toEqual([
      ...'started conversation message tool.started decided tool.ended checkpoint usage'.split(' '),
      undefined,
    ])
    expect(told.at(-1)).toMatchObject({ ok: true, agent: 'claude', task: { id: 'T1', state: 'completed' } })
  })

  test('K13: a command in the background is named by the steps that may hold its work, and by no other', async () => {
    const repo = withStandIn(testRepo())
    const late = 'until [ -e go ]; do sleep 0.05; done; echo late > late.txt'
    const acts = [
      { sh: 'echo first > first.txt' },
      { background: late },
      { sh: 'echo other > other.txt' },
      { sh: 'touch go; until [ -e late.txt ]; do sleep 0.05; done' },
      { background: 'echo left > left.txt; sleep 600' },
    ]
    const ran = await offshoot(repo, 'run', '--task', 'T1', '--json', play(...acts))
    expect(ran.code).toBe(0)
    const steps = (await offshoot(repo, 'log', 'T1', '--json')).json.checkpoints as Step[]
    const holding = (file: string) => steps.find(({ files }) => files.some(({ path: held }) => held === file))
    const ids = (file: string) => holding(file)?.calls.map(({ id }) => id)
    expect(ids('first.txt')).toEqual(['call1'])
    expect(holding('other.txt')?.files).toMatchObject([{ path: 'other.txt' }])
    expect(ids('other.txt')).toEqual(['call3', 'call2'])
    expect(ids('late.txt')).toContain('call2')
    expect(ids('left.txt')).toContain('call5')
  })

  test('L8: an error of the model is told once, with the command that goes on', async () => {
    const repo = withStandIn(testRepo())
    const ran = await offshoot(repo, 'run', '--task', 'T1', play({ fail: 'API Error: 529 Overloaded' }))
    expect(ran.code).not.toBe(0)
    expect(ran.stderr.split('529 Overloaded')).toHaveLength(2)
    expect(ran.stderr).toContain('hint: Go on with it: offshoot resume T1\n')
    expect(await offshoot(repo, 'resume', 'T1', play({ sh: 'echo x > x.txt' }))).toMatchObject({ code: 0 })
  })

  test('G2: resume goes on with the conversation; so does run --resume, with or without its id', async () => {
    const repo = withStandIn(testRepo())
    const first = await offshoot(repo, 'run', '--task', 'T1', '--json', play({ sh: 'echo 1 > 1.txt' }))
    const { conversation } = first.json
    for (const args of [
      ['resume', 'T1', play({ sh: 'cat 1.txt > 2.txt' })],
      ['run', '--resume', play({ sh: 'cat 2.txt  > 3.txt' })],
      ['run', '--resume', conversation, play({ sh: 'cat 3.txt > 4.txt' })],
    ]) {
      expect((await offshoot(repo, ...args, '--json')).json).toMatchObject({ ok: true, conversation })
    }
    expect(await stepsOf(repo, 'T1')).toEqual(['1', '2', '3', '4'].map((n) => ['Bash', `${n}.txt`]))
  })

  test('G2: a task without a conversation has nothing to go on with', async () => {
    const repo = withStandIn(testRepo())
    await offshoot(repo, 'start', 'T1')
    expect(await offshoot(repo, 'resume', 'T1', '--json')).toMatchObject({
      code: 3,
      json: { ok: false, error: { code: 'WT_005' } },
    })
  })

  test('G1: --worktree-dir makes the workspace there, --cleanup takes it away and keeps the branch', async () => {
    const repo = withStandIn(testRepo())
    const base = path.join(repo.home, 'elsewhere')
    const flags = ['--worktree', '--worktree-dir', base, '--worktree-cleanup', '--task', 'T1', '--json']
    const { json } = await offshoot(repo, 'run', ...flags, play({ sh: 'echo x > x.txt' }))
    expect(json.task).toMatchObject({ state: 'kept', path: expect.stringContaining(base) })
    expect(existsSync(json.task.path)).toBe(false)
    expect(repo.git('show', 'offshoot/T1:x.txt')).toBe('x\n')
  })

  test('G1: an agent that is not there is told, with how to install it, and no task is made', async () => {
    const repo = testRepo()
    const alone = withEnv(repo, { PATH: '/usr/bin:/bin' })
    for (const args of [
      ['run', 'do it'],
      ['run', '--agent', 'claude', 'do it'],
    ]) {
      const ran = await offshoot(alone, ...args, '--json')
      expect(ran).toMatchObject({ code: 3, json: { error: { code: 'WT_005' } } })
      expect(ran.json.error.hint).toContain('npm install -g @anthropic-ai/claude-code')
    }
    expect((await offshoot(repo, 'list', '--json')).json.tasks).toEqual([])
    expect(await offshoot(alone, 'run', '--agent', 'nobody', 'do it')).toMatchObject({ code: 2 })
  })

  test('G1: agents tells what is installed', async () => {
    const repo = withStandIn(testRepo())
    const { json } = await offshoot(repo, 'agents', '--json')
    expect(json.agents.find((one: { name: string }) => one.name === 'claude')).toMatchObject({
      exact: true,
      asks: true,
      path: path.join(repo.home, 'bin', 'claude'),
    })
  })
})

describe('G3: the policy', () => {
  test('G3: where nobody can be asked, it is a no, and the run goes on', async () => {
    const repo = withStandIn(testRepo())
    const prompt = play({ sh: 'echo no > no.txt' }, { write: 'yes.txt' }, { sh: 'echo ok > ok.txt' })
    const flags = [
      '--policy',
      'moderate',
      '--allowed-tools',
      'Bash(echo ok *),Read',
      '--task',
      'T1',
      '--json',
    ]
    const told = lines((await offshoot(repo, 'run', ...flags, prompt)).stdout)
    const decided = told
      .filter(({ event }) => event === 'decided')
      .map(({ allow, reason }) => [allow, reason])
    expect(decided).toEqual([
      [false, 'Bash may do anything; nobody is there to be asked'],
      [true, 'it stays in the workspace'],
      [false, 'Bash may do anything; nobody is there to be asked'],
    ])
    expect(await stepsOf(repo, 'T1')).toEqual([['Write', 'yes.txt']])
  })

  test('G3: a person who says always is not asked again, in this run or a later one', async () => {
    const repo = withStandIn(testRepo())
    const lib = library(repo)
    const asked: unknown[] = []
    const run = (prompt: string, answer: string) =>
      lib.run(
        { task: 'T1', create: true, prompt, policy: 'moderate' },
        {
          onEvent: (told) => {
            if (told.event !== 'asked') return undefined
            asked.push(told.summary)
            return Promise.resolve(answer)
          },
        },
      )
    await run(play({ sh: 'echo 1 >> x.txt' }, { sh: 'echo 1 >> x.txt' }), 'always')
    await run(play({ sh: 'echo 1 >> x.txt' }, { sh: 'echo 2 >> x.txt' }), 'deny')
    expect(asked).toEqual(['echo 1 >> x.txt', 'echo 2 >> x.txt'])
    const { path: workspace } = await lib.show('T1')
    expect(readFileSync(path.join(workspace, 'x.txt'), 'utf8')).toBe('1\n1\n1\n')
  })

  test('G3: what cannot be asked is not run under strict', async () => {
    const repo = testRepo()
    const lib = library(repo)
    const strict = { task: 'T1', create: true, command: ['true'], policy: 'strict' as const }
    await expect(lib.run(strict)).rejects.toMatchObject({ code: 'WT_017' })
    expect(await lib.list()).toEqual([])
  })
})

describe('P4: what only the user may do', () => {
  const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
  const own = (...words: string[]) => `'${process.execPath}' '${bin}' ${words.join(' ')}`

  test.each([
    ['accept', own('accept', 'T1')],
    ['reject', own('reject', 'T1')],
    ['undo', own('undo')],
    ['prune', own('prune', '--force')],
    ['worktree remove', own('worktree', 'remove', '--task', 'T1')],
    ['accept', `env -u OFFSHOOT_RUN ${own('accept', 'T1')}`],
  ])('P4: an agent that tries to %s is told to ask, and the user hears of it: %s', async (verb, command) => {
    const repo = withStandIn(testRepo())
    const said = path.join(repo.home, 'said')
    const prompt = play({ write: 'work.txt' }, { sh: `${command} 2> '${said}'; echo $? >> '${said}'` })
    const ran = await offshoot(repo, 'run', '--task', 'T1', '--json', prompt)
    expect(readFileSync(said, 'utf8')).toMatch(/WT_017[\s\S]*\n5\n$/)
    expect(ran.json.task).toMatchObject({ state: 'completed', wanted: verb })
    expect(repo.git('status', '--porcelain')).toBe('')
    expect((await offshoot(repo, 'accept', 'T1')).code).toBe(0)
  })
})

describe('G5: limits', () => {
  test('G5: runs past limits.concurrent queue, and all complete, every step in its own task', async () => {
    const repo = withStandIn(testRepo())
    const lib = library(repo, { flags: { limits: { concurrent: 2, perRepo: 20 } } })
    let most = 0
    let now = 0
    const queued = new Set<string>()
    const run = (task: string) =>
      lib.run(
        { task, create: true, prompt: play({ sh: `echo ${task} > ${task}.txt` }) },
        {
          onEvent: (told) => {
            if (told.event === 'queued') queued.add(task)
            if (told.event === 'started') most = Math.max(most, ++now)
            if (told.event === 'usage') now--
          },
        },
      )
    const tasks = ['T1', 'T2', 'T3', 'T4', 'T5']
    const ran = await Promise.all(tasks.map(run))
    expect(ran.map(({ task }) => task.state)).toEqual(tasks.map(() => 'completed'))
    expect(most).toBeLessThanOrEqual(2)
    expect(queued.size).toBeGreaterThanOrEqual(1)
    for (const task of tasks)
      expect((await lib.log(task)).map(({ files }) => files.map((file) => file.path))).toEqual([
        [`${task}.txt`],
      ])
  })

  test('G5: limits.turns ends a run before its next tool, and keeps what it did', async () => {
    const repo = withStandIn(testRepo())
    const lib = library(repo, { flags: { limits: { turns: 2 } } })
    const acts = ['1', '2', '3'].map((n) => ({ sh: `echo ${n} > ${n}.txt` }))
    const running = lib.run({ task: 'T1', create: true, prompt: play(...acts) }, { onEvent: () => {} })
    await expect(running).rejects.toMatchObject({ code: 'WT_018' })
    expect(await lib.show('T1')).toMatchObject({
      state: 'failed',
      reason: 'limits.turns: 2 answers are over',
    })
    expect((await lib.log('T1')).map(({ summary }) => summary)).toEqual(['echo 1 > 1.txt', 'echo 2 > 2.txt'])
  })
})

test('G5: limits.timeMinutes ends a run with all that it started, and keeps what it did', async () => {
  const repo = withStandIn(testRepo())
  const lib = library(repo, { flags: { limits: { timeMinutes: 0.02 } } })
  let run = ''
  const acts = [{ sh: 'echo 1 > 1.txt' }, { sh: 'echo 2 > 2.txt; setsid sleep 600 & sleep 600' }]
  const running = lib.run(
    { task: 'T1', create: true, prompt: play(...acts) },
    {
      onEvent: (told) => {
        if (told.event === 'started') run = String(told.run)
      },
    },
  )
  await expect(running).rejects.toMatchObject({ code: 'WT_018' })
  expect(findMarked(run)).toEqual([])
  expect(await lib.show('T1')).toMatchObject({
    state: 'failed',
    reason: 'limits.timeMinutes: 0.02 minutes are over',
  })
  const steps = await stepsOf(repo, 'T1')
  expect(steps[0]).toEqual(['Bash', '1.txt'])
})

describe('G1: the first run', () => {
  const alone = (repo: TestRepo) => withEnv(repo, { PATH: '/usr/bin:/bin' })
  const lines = (text: string) => text.trimEnd().split('\n')

  test('G1: where no agent is installed, three lines tell what is missing and what works without', async () => {
    const { code, stdout, stderr } = await offshoot(alone(testRepo()), 'run', 'Fix the bug.')
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(lines(stderr).length).toBeLessThanOrEqual(3)
    expect(stderr).toMatch(/No agent is installed[\s\S]*npm install -g [\s\S]*offshoot run -- COMMAND/)
  })

  test('G1: where there is no repository, they tell that', async () => {
    const { code, stdout, stderr } = await offshoot(alone(nowhere()), 'run', 'Fix the bug.')
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' })
    expect(lines(stderr).length).toBeLessThanOrEqual(3)
    expect(stderr).toMatch(/not in a git repository[\s\S]*hint: /)
  })

  test('G1: where there is no commit yet, they tell that', async () => {
    const at = withStandIn(nowhere())
    at.git('init', '--quiet')
    const { code, stdout, stderr } = await offshoot(at, 'run', 'Fix the bug.')
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(lines(stderr).length).toBeLessThanOrEqual(3)
    expect(stderr).toMatch(/commit[\s\S]*hint: /)
  })

  test('G1: with an agent and a commit nothing else has to be set up', async () => {
    const repo = withStandIn(testRepo())
    expect(await offshoot(repo, 'run', play({ write: 'x.txt' }))).toMatchObject({ code: 0 })
  })
})

describe('P1: what an agent does to the repository of the user', () => {
  test('P1.6: refs, config and hooks that have changed are told, with their old values', async () => {
    const repo = withStandIn(testRepo())
    const main = repo.git('rev-parse', 'main').trim()
    repo.git('tag', 'v1')
    const hook = path.join(repo.dir, '.git', 'hooks', 'pre-commit')
    // In a file, because the policy reads lines, not programs.
    const program = path.join(repo.home, 'stray.sh')
    writeFileSync(program, `git tag -d v1; git branch mine; git config user.name Eve; echo x > '${hook}'`)
    const prompt = play({ sh: `sh '${program}'` })
    const { json } = await offshoot(repo, 'run', '--task', 'T1', '--json', prompt)
    const strays = new Map(
      (json.strays as { what: string; before: string | null; after: string | null }[]).map((stray) => [
        stray.what,
        stray,
      ]),
    )
    expect([...strays.keys()].sort()).toEqual([
      'config',
      'hooks/pre-commit',
      'refs/heads/mine',
      'refs/tags/v1',
    ])
    expect(strays.get('refs/tags/v1')).toMatchObject({ before: main, after: null })
    expect(strays.get('refs/heads/mine')).toMatchObject({ before: null, after: main })
  })
})

describe('P3: refs that strayed in a run', () => {
  test('P3: what an accept of another task changed meanwhile is told, and the undo of the run leaves it', async () => {
    const repo = withStandIn(testRepo())
    await offshoot(repo, 'start', 'T1')
    const other = (await offshoot(repo, 'start', 'T2', '--json')).json.task.path as string
    writeFileSync(path.join(other, 'a.txt'), 'landed\n')
    const at = (name: string) => path.join(repo.home, name)
    const script = `git tag mine; touch '${at('begun')}'; until [ -e '${at('go')}' ]; do sleep 0.1; done`
    const running = offshoot(repo, 'run', '--task', 'T1', '--json', play({ sh: script }))
    await until(() => existsSync(at('begun')), 'the agent works')
    expect(await offshoot(repo, 'accept', 'T2', '--as', 'squash')).toMatchObject({ code: 0 })
    const landed = repo.git('rev-parse', 'main')
    writeFileSync(at('go'), '')
    const { json } = await running
    const told = (json.strays as { what: string; kept: boolean }[]).map(({ what, kept }) => [what, kept])
    expect(new Map(told as [string, boolean][])).toEqual(
      new Map([
        ['index', false],
        ['refs/heads/main', false],
        ['refs/tags/mine', true],
      ]),
    )
    expect(await offshoot(repo, 'undo', json.operation as string)).toMatchObject({ code: 0 })
    expect(repo.git('rev-parse', 'main')).toBe(landed)
    expect([repo.git('tag', '--list'), repo.git('status', '--short')]).toEqual(['', ''])
  })

  const refsOf = (repo: TestRepo) =>
    repo.git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags', 'refs/stash')

  async function strayed(script: string) {
    const repo = withStandIn(testRepo())
    repo.git('tag', 'v1')
    repo.git('branch', 'old')
    repo.write('a.txt', 'put away\n')
    repo.git('stash', 'push', '--quiet')
    // A task of that name is there already: its branch is no stray.
    await offshoot(repo, 'start', 'T1')
    const before = refsOf(repo)
    const { json } = await offshoot(repo, 'run', '--task', 'T1', '--json', play({ sh: script }))
    return { repo, before, operation: json.operation as string }
  }
  const astray = `git tag -d v1; git branch -D old; git branch mine; git stash drop
    git update-ref refs/heads/main $(git commit-tree -m x HEAD^{tree})`

  test('P3: undo puts them back, by name only, also after git has collected what it could', async () => {
    const { repo, before, operation } = await strayed(astray)
    const after = refsOf(repo)
    expect(after).not.toBe(before)
    expect((await offshoot(repo, 'undo', '--json')).json).toMatchObject({
      ok: false,
      error: { code: 'WT_005' },
    })
    repo.git('reflog', 'expire', '--expire=now', '--all')
    repo.git('gc', '--quiet', '--prune=now')
    expect(await offshoot(repo, 'undo', operation)).toMatchObject({ code: 0 })
    expect(refsOf(repo)).toBe(before)
    expect(repo.git('status', '--porcelain')).toBe('')
    expect(repo.git('stash', 'show', '--patch')).toContain('+put away')
    expect((await offshoot(repo, 'ops', '--json')).json.operations).toMatchObject([
      { verb: 'undo' },
      { verb: 'run', task: 'T1', undone: true },
    ])
  })

  test('P3: when one of them has moved since, nothing is done', async () => {
    const { repo, operation } = await strayed(astray)
    repo.git('tag', 'v1')
    const after = refsOf(repo)
    expect(await offshoot(repo, 'undo', operation, '--json')).toMatchObject({
      code: 4,
      json: { error: { code: 'WT_011' } },
    })
    expect(refsOf(repo)).toBe(after)
  })

  test('P3: a branch that somebody is on by now stays', async () => {
    const { repo, operation } = await strayed('git branch mine')
    repo.git('switch', '--quiet', 'mine')
    expect(await offshoot(repo, 'undo', operation, '--json')).toMatchObject({
      code: 5,
      json: { error: { code: 'WT_002' } },
    })
    repo.git('switch', '--quiet', 'main')
    expect(await offshoot(repo, 'undo', operation)).toMatchObject({ code: 0 })
    expect(refsOf(repo)).not.toContain('refs/heads/mine')
  })

  test('P3: they are put back also when the task is closed, and its id in use again', async () => {
    const { repo, before, operation } = await strayed('git tag -d v1')
    await offshoot(repo, 'reject', 'T1')
    await offshoot(repo, 'start', 'T1')
    expect(await offshoot(repo, 'undo', operation)).toMatchObject({ code: 0 })
    expect(refsOf(repo)).toBe(before)
  })

  test('P1.6: a run that is cancelled tells them, too, and a command of one’s own', async () => {
    const repo = withStandIn(testRepo())
    const ran = await offshoot(repo, 'run', '--task', 'T1', '--', 'git', 'tag', 'astray')
    expect(ran.stderr).toMatch(
      /changed in your repository during the run, by the agent or by you: refs\/tags\/astray\n {2}undo: offshoot undo \w{6} puts/,
    )
    const lib = library(repo)
    const cancel = new AbortController()
    const running = lib.run(
      { task: 'T1', create: true, command: ['sh', '-c', 'git tag -d astray; echo ready; sleep 600'] },
      {
        signal: cancel.signal,
        onEvent: (told) => void (told.event === 'output' && told.text.includes('ready') && cancel.abort()),
      },
    )
    await expect(running).rejects.toMatchObject({ code: 'WT_021' })
    expect((await lib.ops()).map(({ verb }) => verb)).toEqual(['run', 'run'])
  })
})

describe('G1: the end of a run', () => {
  const long = (repo: TestRepo) =>
    play({ sh: `echo half > half.txt; setsid sleep 600 & echo $! > '${repo.home}/pid'; sleep 600` })

  async function underWay(repo: TestRepo) {
    const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
    const child = spawn(process.execPath, [bin, 'run', '--task', 'T1', '--json', long(repo)], {
      cwd: repo.dir,
      env: repo.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let stdout = ''
    child.stdout.on('data', (chunk) => (stdout += chunk))
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
    await until(() => existsSync(path.join(repo.home, 'pid')), 'the agent is at work')
    const { run } = lines(stdout)[0] as unknown as { run: string }
    expect(findMarked(run).length).toBeGreaterThan(2)
    return { child, run, ended, told: () => lines(stdout) }
  }

  test('G1: stop ends it from elsewhere, with all that it started, and its work is kept', async () => {
    const repo = withStandIn(testRepo())
    const { run, ended, told } = await underWay(repo)
    const stopped = await offshoot(repo, 'stop', 'T1', '--json')
    expect(stopped.json).toMatchObject({ ok: true, stopped: true, task: { state: 'failed' } })
    expect(findMarked(run)).toEqual([])
    expect(await ended).toBe(1)
    expect(told().at(-1)).toMatchObject({ ok: false, error: { code: 'WT_018' } })
    expect((await offshoot(repo, 'show', 'T1', '--json')).json.task.reason).toBe('Stopped by the user.')
    expect(await stepsOf(repo, 'T1')).toEqual([['sweep', 'half.txt']])
    expect((await offshoot(repo, 'stop', 'T1', '--json')).json).toMatchObject({ ok: true, stopped: false })
  })

  test('G1: so does Ctrl-C', async () => {
    const repo = withStandIn(testRepo())
    const { child, run, ended } = await underWay(repo)
    child.kill('SIGINT')
    expect(await ended).toBe(130)
    expect(findMarked(run)).toEqual([])
    expect(await stepsOf(repo, 'T1')).toEqual([['sweep', 'half.txt']])
  })

  test('P2: when offshoot is killed the agent ends with it, list tells, and the next command keeps its work', async () => {
    const repo = withStandIn(testRepo())
    const { child, run, ended } = await underWay(repo)
    child.kill('SIGKILL')
    await ended
    await until(() => findMarked(run).length === 0, 'nothing of the run is left')
    const why = `run by process ${child.pid} did not end`
    expect((await offshoot(repo, 'list')).stdout).toContain(`failed: ${why}`)
    const failed = [{ id: 'T1', state: 'failed', reason: why }]
    expect((await offshoot(repo, 'list', '--state', 'failed', '--json')).json.tasks).toMatchObject(failed)
    await offshoot(repo, 'recover')
    expect((await offshoot(repo, 'list', '--json')).json.tasks).toMatchObject(failed)
    expect(await stepsOf(repo, 'T1')).toEqual([['sweep', 'half.txt']])
  })
})

test('L7: an agent in a workspace sees what was changed by hand, which is a step of its own', async () => {
  const repo = withStandIn(testRepo())
  const { json } = await offshoot(repo, 'start', 'T1', '--json')
  writeFileSync(path.join(json.task.path, 'hand.txt'), 'by hand\n')
  await offshoot(inFolder(repo, json.task.path), 'run', '--task', 'T1', play({ sh: 'cp hand.txt copy.txt' }))
  expect(await stepsOf(repo, 'T1')).toEqual([
    ['checkpoint', 'hand.txt'],
    ['Bash', 'copy.txt'],
  ])
})
