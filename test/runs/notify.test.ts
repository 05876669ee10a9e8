/** Notifications: the user hears of the end of a run and of questions that wait, and no word of an agent is ever run. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { killHard, until } from '../support/processes.ts'
import { offshoot, type TestRepo, testRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { atTerminal, noTerminal } from '../support/terminal.ts'
import { library, nowhere, withEnv } from '../support/workspace.ts'

const linesOf = (file: string) =>
  existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : ([] as string[])

/** A user whose `notify-send` writes down its words, one line for each call. */
function withDesktop(repo: TestRepo, script = `printf '<%s>' "$@" >> "$HOME/shown"; echo >> "$HOME/shown"`) {
  const folder = path.join(repo.home, 'desktop')
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'notify-send'), `#!/bin/sh\n${script}\n`)
  chmodSync(path.join(folder, 'notify-send'), 0o755)
  const user = withEnv(repo, { PATH: `${folder}${path.delimiter}${repo.env.PATH}` })
  return { user, shown: () => linesOf(path.join(repo.home, 'shown')) }
}

const writesDown = `printf '%s|' "$OFFSHOOT_TASK" "$OFFSHOOT_EVENT" "$OFFSHOOT_STATE" "$OFFSHOOT_MESSAGE" "$PWD" >> "$HOME/told"; echo >> "$HOME/told"`

/** A user whose own settings name a command, which writes down what it was told. */
function withCommand(repo: TestRepo, command = writesDown) {
  const user = withEnv(repo, { OFFSHOOT_NOTIFY_HOW: 'command', OFFSHOOT_NOTIFY_COMMAND: command })
  return { user, told: () => linesOf(path.join(repo.home, 'told')) }
}

describe('G18: the end of a run', () => {
  test('G18: a command of the user’s own is told the task, the event, the state and what was done', async () => {
    const { user, told } = withCommand(withStandIn(testRepo()))
    const ran = await offshoot(user, 'run', '--task', 'T1', play({ write: 'a b.txt' }))
    expect(ran.code).toBe(0)
    expect(told()).toEqual([`T1|ended|completed|T1 completed: 1 step, 1 file, +1 -0|${user.dir}|`])
  })

  test('G18: words of the agent are in the environment alone, masked, on one line', async () => {
    const { user, told } = withCommand(withStandIn(testRepo()))
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const fail = `boom $(touch "$HOME/pwned") \u001b[31m\n"; touch "$HOME/pwned"; ${secret}`
    const ran = await offshoot(user, 'run', '--task', 'T1', play({ fail }))
    expect(ran.code).toBe(1)
    expect(told()).toHaveLength(1)
    expect(told()[0]).toMatch(/^T1\|ended\|failed\|T1 failed: .*boom \$\(touch/)
    expect(told()[0]).not.toMatch(/\p{Cc}/u)
    expect(told()[0]).not.toContain(secret)
    expect(existsSync(path.join(user.home, 'pwned'))).toBe(false)
  })

  test('G18: the desktop shows words of ours alone', async () => {
    const { user, shown } = withDesktop(withStandIn(testRepo()))
    await offshoot(user, 'run', '--task', 'T1', '--notify', 'desktop', play({ fail: 'boom' }))
    expect(shown()).toEqual(['<--app-name=offshoot><--><offshoot><T1 failed>'])
  })

  test('G18: without a program for it the run says so once, and succeeds', async () => {
    const { user } = withDesktop(withStandIn(testRepo()), 'exit 3')
    const asks = play({ sh: 'git push' }, { sh: 'git push -f' })
    const options = ['--policy', 'moderate', '--ask-timeout', '1s', '--notify', 'desktop']
    const ran = await offshoot(user, 'run', '--task', 'T1', ...options, asks)
    expect(ran.code).toBe(0)
    const notice = 'notice: no notification by desktop: notify-send ended with exit code 3'
    expect(ran.stderr.split(notice)).toHaveLength(2)
    const none = withEnv(user, { PATH: path.dirname(process.execPath) })
    const missing = await offshoot(withoutDesktop(none), 'run', '--notify', 'desktop', play())
    expect(missing.stderr).toContain('no program that shows it was found: notify-send, osascript')
  })

  test('G18: a run that the user cancels, a command and a run that is told to be quiet notify nobody', async () => {
    const { user, told } = withCommand(withStandIn(testRepo()))
    const ran = await offshoot(user, 'run', '--task', 'T1', '--notify', 'none', play({ write: 'b' }))
    expect(ran.code).toBe(0)
    await offshoot(user, 'exec', 'T1', '--', 'true')
    await offshoot(user, 'run', '--task', 'T1', '--', 'true')
    const asked = await offshoot(user, 'run', '--notify', '--', 'true')
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('--notify is for agents')])
    const repo = library(user)
    const cancel = new AbortController()
    const prompt = play({ sh: 'touch begun; sleep 30' })
    const options = {
      signal: cancel.signal,
      onEvent: ({ event }: { event: string }) => void (event === 'tool.started' && cancel.abort()),
    }
    await expect(repo.run({ task: 'T1', create: false, prompt }, options)).rejects.toThrow('Cancelled')
    expect(told()).toEqual([])
  })

  test('G18: --notify takes known ways only, before anything is made', async () => {
    const user = withStandIn(testRepo())
    for (const detach of [[], ['--detach']]) {
      const wrong = await offshoot(user, 'run', '--notify=loud', ...detach, play())
      expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Unknown notification "loud"')])
    }
    expect((await offshoot(user, 'list', '--all', '--json')).json.tasks).toEqual([])
  })

  test('G18: also of a run without a task', async () => {
    const { user, told } = withCommand(withStandIn(nowhere()))
    const ran = await offshoot(user, 'run', '--isolation', 'direct', play({ write: 'x' }))
    expect(ran.code).toBe(0)
    expect(told()).toEqual([`|ended|completed|The run completed|${user.dir}|`])
  })
})

/** No folder of its PATH has the program of a desktop. */
function withoutDesktop(user: TestRepo): TestRepo {
  const PATH = (process.env.PATH ?? '')
    .split(path.delimiter)
    .filter((folder) => ['notify-send', 'osascript'].every((name) => !existsSync(path.join(folder, name))))
  const own = path.join(user.home, 'bin')
  return withEnv(user, { PATH: [own, ...PATH].join(path.delimiter) })
}

describe('G18: a question that waits', () => {
  test('G18: of a detached run is told when it is asked, and its end later', async () => {
    const { user, told } = withCommand(withStandIn(testRepo()))
    const asks = play({ sh: 'git push' }, { write: 'b' })
    const line = ['run', '--task', 'T1', '--detach', '--policy', 'moderate', '--json', asks]
    const { json } = await offshoot(user, ...line)
    onTestFinished(() => killHard(json.pid))
    await until(() => told().length > 0, 'the question is told')
    expect(told()[0]).toMatch(/^T1\|asked\|active\|T1 asks: Bash git push \(.+\)\|/)
    await offshoot(user, 'answer', 'T1', 'n')
    await until(() => told().length > 1, 'the end is told')
    expect(told()[1]).toMatch(/^T1\|ended\|completed\|/)
  })

  test('G18: the flag goes with a detached run', async () => {
    const { user, shown } = withDesktop(withStandIn(testRepo()))
    const { json } = await offshoot(user, 'run', '--task', 'T1', '--detach', '--notify', '--json', play())
    onTestFinished(() => killHard(json.pid))
    await until(() => shown().length > 0, 'the desktop shows it')
    expect(shown()).toEqual(['<--app-name=offshoot><--><offshoot><T1 completed>'])
  })
})

describe.skipIf(noTerminal)('G18: the bell', () => {
  const bell = '\u0007'

  test('G18: rings at a terminal when the run ends, and when it asks there', async () => {
    const user = withStandIn(testRepo())
    const ended = await atTerminal(
      user,
      ['run', '--task', 'T1', '--notify', 'bell', play({ write: 'b' })],
      [],
    )
    expect(ended.split(bell)).toHaveLength(2)
    const line = ['run', '--task', 'T1', '--policy', 'moderate', '--bell', play({ sh: 'git push' })]
    const asked = await atTerminal(user, line, [{ after: '[N]o:', type: 'n\n' }])
    expect(asked.split(bell)).toHaveLength(3)
    expect(asked.indexOf(bell)).toBeLessThan(asked.lastIndexOf('[N]o:') + 100)
    const silent = await atTerminal(user, ['run', '--task', 'T1', play()], [])
    expect(silent).not.toContain(bell)
  })

  test('G18: and nowhere else', async () => {
    const user = withStandIn(testRepo())
    const ran = await offshoot(user, 'run', '--task', 'T1', '--notify', 'bell', play())
    expect([ran.code, ran.stdout.includes(bell), ran.stderr.includes(bell)]).toEqual([0, false, false])
    const json = await offshoot(user, 'run', '--task', 'T1', '--notify', 'bell', '--json', play())
    expect(json.stdout).toContain('{"event":"notified","about":"ended","how":"bell"}')
  })
})

describe('H7: the command of a repository’s own settings', () => {
  const own = 'notify: { how: [command], command: ./tell.sh }\n'

  test('H7: does not run before the user trusts it, nor after its file has changed', async () => {
    const user = withStandIn(
      testRepo({ '.offshoot.yaml': own, 'tell.sh': '#!/bin/sh\necho "$OFFSHOOT_EVENT" >> "$HOME/told"\n' }),
    )
    chmodSync(path.join(user.dir, 'tell.sh'), 0o755)
    const told = () => linesOf(path.join(user.home, 'told'))
    await offshoot(user, 'run', '--task', 'T1', play())
    expect(told()).toEqual([])
    const asked = await offshoot(user, 'run', '--task', 'T1', '--notify', 'command', play())
    expect(asked.stderr).toContain('notify.command of this repository is not trusted')
    expect(told()).toEqual([])
    expect((await offshoot(user, 'trust')).code).toBe(0)
    await offshoot(user, 'run', '--task', 'T1', play())
    expect(told()).toEqual(['ended'])
    user.write('tell.sh', '#!/bin/sh\necho changed >> "$HOME/told"\n')
    const changed = await offshoot(user, 'run', '--task', 'T1', play())
    expect(changed.code).toBe(0)
    expect(changed.stderr).toContain('tell.sh is not as you trusted it')
    expect(told()).toEqual(['ended'])
  })
})
