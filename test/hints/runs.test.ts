/** Hints of runs: their ends, their questions, what they changed elsewhere. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { shellWord } from '../../src/core/base/shell-quote.ts'
import { type Person, until } from '../support/hints/person.ts'
import { type Act, play, withStandIn } from '../support/stand-in.ts'
import { tryHints } from '../support/hints/try-hints.ts'

/** The same person, with an agent, and with an npm whose tests pass. */
function withAgent(person: Person): Person {
  const { env, home } = withStandIn(person.user)
  writeFileSync(path.join(home, 'bin', 'npm'), '#!/bin/sh\necho 12 tests passed\n', { mode: 0o755 })
  return person.with(env)
}
const acts = (...all: Act[]) => shellWord(play(...all))

function isAsking({ user }: Person, task: string): boolean {
  const { stdout } = spawnSync('bash', ['-c', `offshoot show ${task} --json`], {
    cwd: user.dir,
    env: user.env,
    encoding: 'utf8',
  })
  return stdout.includes('"asks":{')
}

/** An agent of the Agent Client Protocol that has nothing to do. */
const acpProgram = `
const answers = { initialize: { protocolVersion: 1, agentCapabilities: {} }, 'session/new': { sessionId: 's1' }, 'session/prompt': { stopReason: 'end_turn' } }
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] ?? {} }) + '\\n')
})
`

/** A tool call that lasts until the person lets it go on. */
function waiting({ user }: Person, name: string) {
  const [ready, go] = [path.join(user.home, `${name}-ready`), path.join(user.home, `${name}-go`)]
  return {
    act: { sh: `touch b.txt '${ready}'; while ! test -e '${go}'; do sleep 0.05; done` },
    isReady: () => existsSync(ready),
    goOn: () => writeFileSync(go, ''),
  }
}

tryHints(import.meta.filename, [
  {
    name: 'the end of a run, and what may come next',
    async play(meet) {
      const user = withAgent(meet()).with({ OFFSHOOT_LIMITS_PER_REPO: '30' })
      const { hint } = user
      await hint('cli/commands/run.ts: Give a prompt', 'offshoot run', {
        shows: /completed|12 tests/,
      })
      await hint(
        'cli/commands/run.ts: offshoot diff {}    offshoot accept {}    offshoot resume',
        `offshoot run --task T1 ${acts({ write: 'b.txt' })}`,
        {
          after: (command) => /accept|reject/.test(command) && user.do('offshoot undo'),
          shows: /T1|b\.txt/,
        },
      )
      const cleaned = `offshoot run --cleanup ${acts({ write: 'c.txt' })} --task`
      await hint('cli/commands/run.ts: offshoot diff {}    git merge', `${cleaned} T2`, {
        by: () => user.do('test -f c.txt'),
      })
      await hint('cli/commands/run.ts: offshoot undo {}', `${cleaned} T3`, {
        worksNow: 'offshoot accept T3 --dry-run',
      })
      await hint(
        'api/handlers/work.ts: Go on with it',
        `offshoot run --task T4 ${acts({ fail: 'The server is busy' })}`,
        {
          shows: /T4 completed/,
        },
      )
      await hint(
        'cli/commands/run.ts: offshoot diff {}    offshoot accept {}    offshoot reject',
        'offshoot run --task C1 -- touch d.txt',
        {
          after: (command) => /accept|reject/.test(command) && user.do('offshoot undo'),
          shows: /C1|d\.txt/,
        },
      )
      await hint('core/runs/run-task.ts: Name the task', 'offshoot run --resume=nosuch "go on"', {
        worksNow: 'offshoot run --resume --task T1 "go on"',
      })
      await user.do('offshoot start T5')
      await hint('core/runs/loop.ts: Begin one', 'offshoot resume T5', { worksNow: true })
      await hint('core/runs/loop.ts: It has letters', "offshoot run --task T1 --resume=a+b 'go on'", {
        shows: /"conversation":"[\w-]+"/,
        worksNow: 'offshoot run --task T1 --resume "go on"',
      })
      await hint('cli/commands/best-of.ts: Write it as --times', 'offshoot run --times x "do it"', {
        worksNow: (said) => `offshoot run ${/--times \d/.exec(said)?.[0]} --task N "do it"`,
      })
      await hint('cli/commands/accept.ts: offshoot reject {}', 'offshoot accept N-1', { shows: /Rejected N/ })
      const long = Array.from({ length: 8 }, (_, n) => ({ write: `f${n}.txt` }))
      await user.do(`offshoot run --task T8 ${acts(...long)}`)
      await hint('cli/commands/show.ts: and {} more', 'offshoot show T8', { shows: /f0\.txt/ })
      const denied = acts({ sh: 'curl http://127.0.0.1:9/ -d @a.txt' })
      await hint('cli/commands/run.ts: {}: offshoot audit', `offshoot run --task T9 ${denied}`, {
        shows: /curl/,
      })
      await hint('cli/commands/show.ts: {}: offshoot audit', 'offshoot show T9', { shows: /curl/ })
    },
  },
  {
    name: 'a run that is under way, or is ended from outside',
    async play(meet) {
      const user = withAgent(meet())
      const { hint } = user
      /** A command that is at work in the task until it is stopped. */
      const busy = async (task: string) => {
        const ready = path.join(user.user.home, `${task}-busy`)
        rmSync(ready, { force: true })
        const ended = user.type(`offshoot exec ${task} -- sh -c "touch ${ready}; exec sleep 600"`)
        await until(() => existsSync(ready), 'the command is at work')
        return ended
      }
      await user.do('offshoot start T1')
      const works = [
        ['core/tasks/guards.ts: Wait for {}', 'offshoot rewind T1 --to 0'],
        ['core/verbs/attach.ts: Follow it there', 'offshoot attach T1'],
        ['cli/commands/waiting.ts: offshoot stop {}', 'offshoot'],
      ] as const
      for (const [name, line] of works) {
        const ended = busy('T1')
        await until(() => existsSync(path.join(user.user.home, 'T1-busy')), 'it is at work')
        await hint(name, line, { shows: /Stopped T1/ })
        await ended
      }
      const first = waiting(user, 'first')
      const run = (task: string, ...all: Act[]) => `offshoot run --task ${task} ${acts(...all)}`
      const begun = await user.do(`${run('T2', { say: 'hello' }, first.act)} --detach`)
      const looked = await user.interrupt('offshoot attach T2', (shown) => shown.includes('hello'))
      first.goOn()
      await user.follow('cli/commands/run.ts: offshoot attach', begun.stdout, { shows: /T2|b\.txt/ })
      expect(looked.stdout).toMatch(/T2 goes on by itself/)
      const second = waiting(user, 'second')
      await user.do(`${run('T2', { say: 'hello' }, second.act)} --detach`)
      await until(second.isReady, 'the agent is at work')
      await user.follow('cli/commands/attach.ts: {} goes on', looked.stdout, { shows: /Stopped T2/ })
      const third = waiting(user, 'third')
      const broken = await user.interrupt(run('T3', third.act), third.isReady)
      await user.follow('core/runs/run.ts: offshoot resume', broken.stderr, { shows: /T3/ })
      const exec = path.join(user.user.home, 'exec')
      const stopped = await user.interrupt(`offshoot exec T1 -- sh -c "touch ${exec}; exec sleep 600"`, () =>
        existsSync(exec),
      )
      await user.follow('core/runs/run.ts: offshoot show', stopped.stderr, { shows: /T1/ })
      const fourth = waiting(user, 'fourth')
      const reverting = user.with({ OFFSHOOT_AUTO_REVERT_SHUTDOWN: 'always' })
      const gone = await reverting.interrupt(run('T4', fourth.act), fourth.isReady)
      await user.follow('core/runs/run.ts: offshoot ops lists', gone.stderr, { shows: /T4/ })
      const fifth = waiting(user, 'fifth')
      await user.do(`${run('T5', fifth.act)} --detach`)
      await until(fifth.isReady, 'the agent is at work')
      const queued = user.with({ OFFSHOOT_LIMITS_CONCURRENT: '1' })
      const turned = await queued.interrupt(run('T6', { write: 'c.txt' }), (shown) =>
        shown.includes('Waiting'),
      )
      await user.follow('core/verbs/run.ts: The task is there', turned.stderr, { shows: /T6/ })
      let stopping: Promise<unknown> | undefined
      const ended = await user.interrupt('offshoot attach T5', (shown) => {
        if (shown.includes('at work')) stopping ??= user.do('offshoot stop T5')
        return shown.includes('failed')
      })
      await stopping
      await user.follow('core/verbs/attach.ts: Go on with it', ended.stderr, { shows: /T5 completed/ })
    },
  },
  {
    name: 'several agents for one prompt',
    async play(meet) {
      const user = withAgent(meet()).with({ OFFSHOOT_LIMITS_PER_REPO: '30' })
      const { hint } = user
      const writes = acts({ write: 'b.txt' })
      await hint('cli/commands/best-of.ts: Leave {} out', `offshoot run --times 2 --detach ${writes}`, {
        worksNow: `offshoot run --times 2 --task A ${writes}`,
      })
      await hint('cli/commands/best-of.ts: Give a new name', `offshoot run --times 2 --task - ${writes}`, {
        worksNow: (said) => `offshoot run --times 2 ${/--task \S+/.exec(said)?.[0]} ${writes}`,
      })
      await hint('cli/commands/best-of.ts: offshoot compare', `offshoot run --times 2 --task N ${writes}`, {
        shows: /N-1|b\.txt/,
      })
      const first = waiting(user, 'best')
      const broken = await user.interrupt(`offshoot run --times 2 --task S ${acts(first.act)}`, first.isReady)
      first.goOn()
      await user.follow('cli/commands/best-of.ts: Go on with one', broken.stderr, { shows: /S-[12]/ })
      const own = path.join(user.user.home, '.config', 'offshoot', 'config.yaml')
      const ready = path.join(user.user.home, 'starting')
      mkdirSync(path.dirname(own), { recursive: true })
      const hook = `case "$OFFSHOOT_TASK" in R-2) touch ${ready}; sleep 600;; esac`
      writeFileSync(own, `hooks:\n  postStart: '${hook}'\n`)
      const cut = await user.interrupt(`offshoot run --times 2 --task R ${writes}`, () => existsSync(ready))
      await user.follow('cli/commands/best-of.ts: offshoot reject {}', cut.stderr, { shows: /Rejected R-1/ })
      await user.do('offshoot undo')
      await user.follow('cli/commands/best-of.ts: Give them up', cut.stderr, { shows: /Rejected R-1/ })
      rmSync(own)
    },
  },
  {
    name: 'notifications',
    async play(meet) {
      const user = withAgent(meet({ '.offshoot.yaml': 'notify: { how: [command], command: ./tell.sh }\n' }))
      const { hint } = user
      for (const name of ['notify-send', 'tell.sh'])
        writeFileSync(path.join(user.user.home, 'bin', name), '#!/bin/sh\n', { mode: 0o755 })
      await hint('cli/notify.ts: --notify takes', 'offshoot run --task T1 --notify horn "do it"', {
        worksNow: (said) => `offshoot run --task T1 --notify ${/takes (\w+)/.exec(said)?.[1]} "do it"`,
      })
      await hint('cli/commands/run.ts: Add it to the command', 'offshoot run --notify -- npm test', {
        shows: /12 tests/,
      })
      await hint(
        'core/runs/notify.ts: notify.command of this repository',
        'offshoot run --task T1 --notify command "do it"',
        { worksNow: 'offshoot trust --show | grep Trusted' },
      )
    },
  },
  {
    name: 'questions and messages',
    async play(meet) {
      const user = withAgent(meet())
      const { hint } = user
      await user.do('offshoot start T1')
      const ask = async (task: string, name: string) => {
        await user.do(
          `offshoot run --task ${task} --policy moderate --detach ${acts({ sh: `touch ${name}` })}`,
        )
        await until(() => isAsking(user, task), 'it asks')
      }
      await hint('core/verbs/answer.ts: offshoot show {} shows', 'offshoot answer T1 y', { shows: /T1/ })
      await ask('T1', 'b.txt')
      await hint('cli/commands/show.ts: {} {} ({}): offshoot answer', 'offshoot show T1', {
        shows: /touch b\.txt/,
      })
      await hint('cli/commands/waiting.ts: offshoot answer', 'offshoot', { shows: /touch b\.txt/ })
      await hint('core/verbs/answer.ts: offshoot answer {} shows', 'offshoot answer T1 y --question zzz', {
        shows: /touch b\.txt/,
      })
      await hint('cli/commands/answer.ts: offshoot answer {} y', 'offshoot answer T1', {
        shows: /Allowed once/,
      })
      await ask('T2', 'c.txt')
      await hint('cli/commands/answer.ts: {}    offshoot answer {} n', 'offshoot answer T2', {
        only: / n$/,
        shows: /Denied/,
      })
      await ask('T3', 'd.txt')
      const looked = await user.interrupt('offshoot attach T3', (shown) =>
        shown.includes('offshoot answer T3'),
      )
      await user.follow('cli/run-view.ts: {} {} ({}): offshoot answer', looked.stderr, {
        shows: /touch d\.txt/,
      })
      const folders = path.join(user.user.env.OFFSHOOT_HOME ?? '', 'run-folders')
      for (const folder of readdirSync(folders))
        rmSync(path.join(folders, folder, 'question.json'), { force: true })
      await hint('core/verbs/answer.ts: offshoot answer {} n', 'offshoot answer T3 y', { shows: /Denied/ })
      await hint('core/verbs/say.ts: offshoot say', 'offshoot say T1 " "', {
        only: /^$/,
        worksNow: 'offshoot show T1',
      })
      await hint('core/verbs/say.ts: Begin a run with it', 'offshoot say T1 "Use tabs, please"', {
        shows: /T1 completed/,
      })
    },
  },
  {
    name: 'agents that are not there, and tools that do not exist',
    async play(meet) {
      const bare = meet()
      const tools = path.join(bare.user.home, 'tools')
      mkdirSync(tools)
      for (const name of ['bash', 'sh', 'git', 'true', 'touch', 'sleep'])
        symlinkSync(execFileSync('which', [name], { encoding: 'utf8' }).trim(), path.join(tools, name))
      const shim = (bare.user.env.PATH ?? '').split(path.delimiter)[0]
      const none = bare.with({ PATH: `${shim}${path.delimiter}${tools}` })
      await none.hint('core/runs/choose-agent.ts: Install one', 'offshoot run --task T1 "do it"', {
        fill: { COMMAND: 'touch b.txt' },
        shows: /b\.txt/,
      })
      const user = withAgent(bare)
      await none.do('offshoot start T1')
      await none.hint('cli/commands/attach.ts: Install it', 'offshoot attach T1', {
        by: () => user.do('offshoot attach T1'),
      })
      await none.hint(
        'core/runs/choose-agent.ts: Install it',
        'offshoot run --task T1 --agent claude "do it"',
        {
          by: () => user.do('offshoot run --task T1 --agent claude "do it"'),
        },
      )
      const { hint } = user
      await hint(
        'core/runs/choose-agent.ts: --agent takes',
        'offshoot run --task T1 --agent nobody "do it"',
        {
          worksNow: (said) => `offshoot run --task T1 --agent ${/claude/.exec(said)?.[0]} "do it"`,
        },
      )
      await hint(
        'core/runs/choose-agent.ts: Choose another policy',
        'offshoot run --task T1 --agent acp --policy strict "do it"',
        {
          shows: /claude/,
          worksNow: 'offshoot run --task T1 --agent claude --policy strict "do it"',
        },
      )
      const module = path.join(user.user.home, 'own.mjs')
      const own = user.with({ OFFSHOOT_AGENT_ADAPTERS: module })
      writeFileSync(module, 'export const nothing = 1\n')
      const agent = `{ name: 'own', title: 'Own', exact: true, asks: true, program: 'own-program', async *run() { yield { type: 'ended', ok: true, reason: '' } } }`
      await own.hint('core/runs/choose-agent.ts: docs/agents.md tells', 'offshoot agents', {
        by: () => writeFileSync(module, `export default ${agent}\n`),
        worksNow: true,
      })
      await own.hint(
        'core/runs/choose-agent.ts: Put {} into PATH',
        'offshoot run --task T1 --agent own "do it"',
        {
          by: () =>
            writeFileSync(path.join(user.user.home, 'bin', 'own-program'), '#!/bin/sh\n', { mode: 0o755 }),
          worksNow: true,
        },
      )
      writeFileSync(module, 'this is no module\n')
      await own.hint('core/model/errors.ts: Correct that file', 'offshoot agents', {
        by: () => writeFileSync(module, `export default ${agent}\n`),
        worksNow: true,
      })
      await hint(
        'core/base/tool-list.ts: Write the name',
        'offshoot run --task T1 --allowed-tools "Bash(" "do it"',
        {
          worksNow: 'offshoot run --task T1 --allowed-tools "Edit,Bash(npm test *),Edit(src/**)" "do it"',
        },
      )
      await hint(
        'core/runs/known-tools.ts: Did you mean',
        'offshoot run --task T1 --denied-tools Bsh "do it"',
        {
          worksNow: (said) => `offshoot run --task T1 --denied-tools ${/mean (\w+)/.exec(said)?.[1]} "do it"`,
        },
      )
      await hint(
        'core/runs/known-tools.ts: Name a tool',
        'offshoot run --task T1 --denied-tools Frobnicator "do it"',
        {
          worksNow: 'offshoot run --task T1 --denied-tools Read,Edit,Bash,WebFetch,mcp__server__tool "do it"',
        },
      )
      await hint(
        'core/runs/known-tools.ts: Uses are commands',
        'offshoot run --task T1 --denied-tools "Task(x)" "do it"',
        {
          worksNow: (said) =>
            `offshoot run --task T1 --denied-tools "${/Or: (\w+)/.exec(said)?.[1]},WebFetch(domain:example.com)" "do it"`,
        },
      )
      await hint('core/verbs/install.ts: --agent takes', 'offshoot agents install T1 --agent acp', {
        worksNow: (said) => `offshoot agents install T1 --agent ${/claude/.exec(said)?.[0]}`,
      })
      const acp = path.join(user.user.home, 'acp.cjs')
      writeFileSync(acp, acpProgram)
      await hint('agents/acp.ts: Give its command', 'offshoot run --task T1 --agent acp "do it"', {
        fill: { 'gemini --acp': `${process.execPath} ${acp}` },
        shows: /completed/,
      })
    },
  },
  {
    name: 'what an agent may not do, and what it changed elsewhere',
    async play(meet) {
      const user = withAgent(meet())
      const { hint } = user
      const { git, dir } = user.user
      await user.do('offshoot start T2')
      const inRun = (line: string) => `offshoot run --task T1 -- sh -c ${shellWord(`${line}; touch b.txt`)}`
      await hint('api/caller.ts: {}Only they can run', inRun('offshoot accept'), { shows: /Accepted T1/ })
      await user.do('offshoot undo')
      await hint('api/caller.ts: Your task is', inRun('offshoot log T2'), {
        worksNow: inRun('offshoot log T1'),
      })
      const ended = 'env OFFSHOOT_RUN=zzzzzzzzzzzzzzzzzzzz OFFSHOOT_TASK=T1'
      await hint('api/caller.ts: The run of this process', `${ended} offshoot log T1`, {
        worksNow: 'offshoot log T1',
      })
      const skills = '.claude/skills/*/SKILL.md'
      const inside = (await user.do('offshoot cd T1')).stdout.trim()
      const { stdout: told } = await user.do(`offshoot agents install T1 >&2; cat ${inside}/${skills}`)
      const back = async (command: string) => {
        if (/accept|reject/.test(command)) await user.do('offshoot undo')
      }
      const following = { in: inside, after: back, shows: /T1|b\.txt|touch/ }
      for (const name of [
        'core/runs/slash-commands.ts: Tell what this task',
        'core/runs/slash-commands.ts: Run `offshoot show`',
        'core/runs/slash-commands.ts: {} (offshoot {})',
        'core/runs/slash-commands.ts: 1. Run',
        'core/runs/slash-commands.ts: 2. Run',
        'core/runs/slash-commands.ts: that they can run',
      ])
        await user.follow(name, told, following)
      const strays = (line: string) => inRun(`cd ${dir} && ${line}`)
      await hint('cli/strays.ts: undo: offshoot undo', strays('git branch made && git tag made'), {
        by: () => user.do('! git rev-parse --verify --quiet refs/tags/made'),
      })
      const head = git('rev-parse', 'HEAD').trim()
      const at = (branch: string) => git('rev-parse', branch).trim()
      const commit = 'git commit --quiet --allow-empty -m'
      await hint('core/runs/strays.ts: git -C {} reset --keep', strays(`${commit} mine`), {
        in: inside,
        by: () => expect(at('main')).toBe(head),
      })
      git('branch', 'side')
      const made = '$(git commit-tree -m mine -p HEAD HEAD^{tree})'
      await hint(
        'core/runs/strays.ts: git branch --force',
        strays(`git update-ref refs/heads/side ${made}`),
        {
          by: () => expect(at('side')).toBe(head),
        },
      )
      await hint('core/runs/strays.ts: git branch -D', strays(`git update-ref refs/heads/new ${made}`), {
        by: () => user.do('! git rev-parse --verify --quiet new'),
      })
      await hint('core/runs/strays.ts: git -C {} switch', strays('git switch --quiet side'), {
        in: inside,
        by: () => expect(git('symbolic-ref', 'HEAD').trim()).toBe('refs/heads/main'),
      })
      const other = path.join(user.user.home, 'other')
      git('worktree', 'add', '--quiet', other, 'side')
      await hint('core/runs/strays.ts: git -C {} reset --keep', inRun(`cd ${other} && ${commit} mine`), {
        by: () => expect([at('side'), at('main')]).toEqual([head, head]),
      })
      const wrote = await user.do(strays('echo s > stray.txt'))
      const undo = /offshoot undo \w+/.exec(wrote.stderr)?.[0] ?? ''
      user.user.write('stray.txt', 'mine\n')
      await hint('core/landing/later-edits.ts: They are no longer', undo, {
        by: () => user.user.write('stray.txt', 's\n'),
        worksNow: true,
      })
    },
  },
])
