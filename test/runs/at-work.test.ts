import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isRunning, killHard, until } from '../support/processes.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { type Act, play, withStandIn } from '../support/stand-in.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

/** A command beside others in T1, which writes a file and goes on until it is told to end. */
async function server(repo: TestRepo, name: string) {
  const [ready, go] = [path.join(repo.home, `${name}-ready`), path.join(repo.home, `${name}-go`)]
  const script = `echo ${name} > ${name}.txt; echo $$ > '${ready}'; while ! test -e '${go}'; do sleep 0.05; done`
  const child = spawn(process.execPath, [bin, 'exec', 'T1', '--', 'sh', '-c', script, name], {
    cwd: repo.dir,
    env: repo.env,
    stdio: 'ignore',
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  onTestFinished(() => killHard(child.pid!))
  const read = () => (existsSync(ready) ? Number(readFileSync(ready, 'utf8')) : 0)
  await until(() => child.exitCode !== null || read() > 0, `${name} is at work`)
  const pid = read()
  if (pid > 0) onTestFinished(() => killHard(pid))
  return { child, pid, ended, goOn: () => writeFileSync(go, '') }
}

/** A detached agent that writes a file in a tool call, and then waits for the user's word in the next. */
async function agent(repo: TestRepo, ...before: Act[]) {
  const [ready, go] = [path.join(repo.home, 'ready'), path.join(repo.home, 'go')]
  const wait = `touch '${ready}'; while ! test -e '${go}'; do sleep 0.05; done`
  const prompt = play({ write: 'one.txt' }, ...before, { sh: wait })
  const begun = await offshoot(repo, 'run', '--task', 'T1', '--detach', '--json', prompt)
  const { pid } = begun.json as { pid: number }
  onTestFinished(() => killHard(pid))
  await until(() => existsSync(ready), 'the agent is at work')
  return { pid, goOn: () => writeFileSync(go, '') }
}

/** Asks the command again until it says so. */
async function eventually(holds: () => Promise<boolean>, what: string): Promise<void> {
  const late = AbortSignal.timeout(30_000)
  while (!(await holds())) if (late.aborted) throw new Error(`It never came: ${what}`)
}

const task = async (repo: TestRepo) => (await offshoot(repo, 'show', 'T1', '--json')).json.task

const steps = async (repo: TestRepo) =>
  ((await offshoot(repo, 'log', 'T1', '--json')).json.checkpoints as Step[]).map(
    ({ tool, summary, files }) => [tool, summary, ...files.map((file) => file.path)],
  )

interface Step {
  readonly tool: string
  readonly summary: string
  readonly files: { readonly path: string }[]
}

describe('G14: several at work in one workspace', () => {
  test('G14: commands work beside each other, and each makes a step at its end', async () => {
    const repo = testRepo()
    await offshoot(repo, 'start', 'T1')
    const dev = await server(repo, 'dev')
    expect(dev.child.exitCode).toBeNull()
    expect(await offshoot(repo, 'exec', 'T1', '--', 'sh', '-c', 'echo t > test.txt; exit 3')).toMatchObject({
      code: 3,
    })
    expect(await task(repo)).toMatchObject({ state: 'active', running: true, runs: 2 })
    dev.goOn()
    expect(await dev.ended).toBe(0)
    const now = await task(repo)
    expect(now).toMatchObject({ state: 'completed', dirty: false })
    expect(now).not.toHaveProperty('running')
    const made = await steps(repo)
    expect(made.flatMap(([, , ...files]) => files).sort()).toEqual(['dev.txt', 'test.txt'])
    expect(made[0]?.[1]).toMatch(/\(beside sh -c /)
  })

  test('G14, P3: what a command changes in the checkout is told, also when another has ended beside it', async () => {
    const repo = testRepo()
    await offshoot(repo, 'start', 'T1')
    const [ready, go] = [path.join(repo.home, 'ready'), path.join(repo.home, 'go')]
    const script = `touch '${ready}'; while ! test -e '${go}'; do sleep 0.05; done; echo x > '${repo.dir}/stray.txt'`
    const first = offshoot(repo, 'exec', 'T1', '--json', '--', 'sh', '-c', script)
    await until(() => existsSync(ready), 'the first command is at work')
    await offshoot(repo, 'exec', 'T1', '--', 'true')
    writeFileSync(go, '')
    const { json } = await first
    expect(json.strays).toMatchObject([{ what: 'stray.txt', where: 'checkout' }])
    const vaults = path.join(repo.home, 'state', 'vaults')
    expect(readdirSync(vaults).flatMap((vault) => readdirSync(path.join(vaults, vault, 'scratch')))).toEqual(
      [],
    )
  })

  test('G14: a command works beside an agent, and what the agent’s tools made is theirs', async () => {
    const repo = withStandIn(testRepo())
    const run = await agent(repo)
    expect(await offshoot(repo, 'exec', 'T1', '--', 'sh', '-c', 'echo t > test.txt')).toMatchObject({
      code: 0,
    })
    expect(await steps(repo)).toEqual([
      ['Write', 'one.txt', 'one.txt'],
      ['command', expect.stringMatching(/ \(beside claude\)$/), 'test.txt'],
    ])
    run.goOn()
    await eventually(async () => (await task(repo)).running === undefined, 'the agent has ended')
    expect(await task(repo)).toMatchObject({ state: 'completed', agent: 'claude' })
  })

  test('G14: a command beside an agent hides none of its denied calls, and a step by hand is the agent’s', async () => {
    const repo = withStandIn(testRepo())
    await offshoot(repo, 'start', 'T1')
    const first = await server(repo, 'server')
    const run = await agent(repo, { sh: 'sudo id' })
    await offshoot(repo, 'exec', 'T1', '--', 'true')
    const shown = (await offshoot(repo, 'show', 'T1', '--json')).json
    expect(shown.denied).toMatchObject([{ tool: 'Bash', summary: 'sudo id' }])
    writeFileSync(path.join(shown.task.path, 'by-hand.txt'), 'x\n')
    const { checkpoint } = (await offshoot(repo, 'checkpoint', 'T1', '--json')).json
    const own = (shown.runs as { run: string; agent: string }[]).find(({ agent: name }) => name === 'claude')
    expect(checkpoint.run).toBe(own?.run)
    run.goOn()
    first.goOn()
  })

  test('G14: a server that is ended after the agent does not make a failure of the agent’s work', async () => {
    const repo = withStandIn(testRepo())
    await offshoot(repo, 'start', 'T1')
    const dev = await server(repo, 'dev')
    const run = await agent(repo)
    run.goOn()
    await eventually(async () => (await task(repo)).state === 'completed', 'the agent has ended')
    expect(await task(repo)).toMatchObject({ running: true })
    // The agent's work does not wait for the server to be on the branch.
    const published = () => repo.git('ls-tree', '--name-only', 'offshoot/T1').includes('one.txt')
    await until(published, 'the work of the agent is on the branch')
    expect(isRunning(dev.pid)).toBe(true)
    dev.child.kill('SIGINT')
    expect(await dev.ended).toBe(130)
    const now = await task(repo)
    expect(now).toMatchObject({ state: 'completed' })
    expect(now).not.toHaveProperty('reason')
  })

  test('G14: what is refused meanwhile says which task and what is at work, for as long as any is', async () => {
    const repo = withStandIn(testRepo())
    const run = await agent(repo)
    const dev = await server(repo, 'dev')
    const second = await offshoot(repo, 'run', '--task', 'T1', play({ say: 'x' }), '--json')
    expect(second.json.error).toMatchObject({ code: 'WT_012', message: 'claude is at work in T1.' })
    const both = (await offshoot(repo, 'accept', 'T1', '--json')).json.error
    expect(both).toMatchObject({
      code: 'WT_012',
      message: expect.stringMatching(/^claude and sh -c .* are at work in T1\.$/),
    })
    run.goOn()
    await eventually(async () => (await task(repo)).state === 'completed', 'the agent has ended')
    for (const verb of [['accept'], ['rewind', '--to', '0'], ['worktree', 'remove', '--task']]) {
      const [words, rest] = verb[0] === 'rewind' ? [['rewind', 'T1'], verb.slice(1)] : [verb, ['T1']]
      const { error } = (await offshoot(repo, ...words, ...rest, '--json')).json
      expect(error, verb.join(' ')).toMatchObject({
        code: 'WT_012',
        message: expect.stringMatching(/^sh -c .* is at work in T1\.$/),
      })
    }
    dev.goOn()
    expect(await dev.ended).toBe(0)
    expect(await offshoot(repo, 'accept', 'T1')).toMatchObject({ code: 0 })
  })

  test.each(['stop', 'reject', 'delete'])('R1: %s ends all that is at work in the task', async (verb) => {
    const repo = withStandIn(testRepo())
    const run = await agent(repo)
    const [one, two] = [await server(repo, 'one'), await server(repo, 'two')]
    expect(await offshoot(repo, verb, 'T1', '--json')).toMatchObject({ code: 0 })
    expect([one.pid, two.pid].filter(isRunning)).toEqual([])
    expect([await one.ended, await two.ended]).not.toContain(0)
    await until(() => !isRunning(run.pid), 'the run has ended')
    if (verb === 'stop') expect(await task(repo)).not.toHaveProperty('running')
    else await offshoot(repo, 'undo')
    const files = (await steps(repo)).flatMap(([, , ...paths]) => paths)
    expect(files).toEqual(expect.arrayContaining(['one.txt', 'two.txt']))
  })

  test('P2: one of them that is killed is recovered, and the others go on', async () => {
    const repo = testRepo()
    await offshoot(repo, 'start', 'T1')
    const [one, two] = [await server(repo, 'one'), await server(repo, 'two')]
    one.child.kill('SIGKILL')
    await one.ended
    const { json } = await offshoot(repo, 'recover', '--json')
    expect(JSON.stringify(json)).toContain(`run by process ${one.child.pid} did not end`)
    await until(() => !isRunning(one.pid), 'its command has ended with it')
    expect(isRunning(two.pid)).toBe(true)
    expect(await task(repo)).toMatchObject({ running: true })
    expect(await offshoot(repo, 'accept', 'T1', '--json')).toMatchObject({ code: 5 })
    const three = await server(repo, 'three')
    two.goOn()
    three.goOn()
    expect([await two.ended, await three.ended]).toEqual([0, 0])
    expect(await task(repo)).toMatchObject({ state: 'completed', dirty: false })
    expect(await task(repo)).not.toHaveProperty('running')
  })

  test('P2: killed all at once, they leave a task that can be used', async () => {
    const repo = withStandIn(testRepo())
    const run = await agent(repo)
    const [one, two] = [await server(repo, 'one'), await server(repo, 'two')]
    for (const child of [one.child, two.child]) child.kill('SIGKILL')
    process.kill(run.pid, 'SIGKILL')
    await Promise.all([one.ended, two.ended])
    await until(() => !isRunning(run.pid), 'the run is dead')
    expect(await offshoot(repo, 'accept', 'T1')).toMatchObject({ code: 0 })
    expect(existsSync(path.join(repo.dir, 'two.txt'))).toBe(true)
  })
})
