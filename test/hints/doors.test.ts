/** Hints of the first steps, and of the doors beside the command line. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import type { Scope } from '../../src/core/model/enums.ts'
import { openDoor } from '../../src/api/call.ts'
import { compose } from '../../src/compose/full.ts'
import { appError } from '../../src/core/model/errors.ts'
import { type Person, until } from '../support/hints/person.ts'
import { openAround } from '../support/open-around.ts'
import { openPty } from '../support/pty.ts'
import { play, withStandIn } from '../support/stand-in.ts'
import { shellWord } from '../../src/core/base/shell-quote.ts'
import { atTerminal, noTerminal } from '../support/terminal.ts'
import { tryHints } from '../support/hints/try-hints.ts'

/** The same person, who has the program only through an npx, which does with the environment what that of npm does. */
function withNpx(person: Person): Person {
  const { home, env } = person.user
  const folders = (env.PATH ?? '').split(path.delimiter)
  const shim = folders.find((folder) => existsSync(path.join(folder, 'offshoot'))) ?? ''
  const cache = path.join(home, '.npm', '_npx', '0123456789abcdef', 'node_modules', '.bin')
  mkdirSync(cache, { recursive: true })
  cpSync(path.join(shim, 'offshoot'), path.join(cache, 'offshoot'))
  writeFileSync(
    path.join(home, 'bin', 'npx'),
    `#!/bin/sh\nPATH=${cache}:$PATH npm_command=exec exec "$@"\n`,
    { mode: 0o755 },
  )
  return person.with({ PATH: folders.filter((folder) => folder !== shim).join(path.delimiter) })
}

tryHints(import.meta.filename, [
  {
    name: 'the first steps',
    async play(meet) {
      const plain = meet()
      const { home, dir } = plain.user
      const agent = withStandIn(plain.user)
      writeFileSync(path.join(home, 'bin', 'npm'), '#!/bin/sh\necho 12 tests passed\n', { mode: 0o755 })
      const user = plain.with(agent.env)
      const { hint } = user
      await hint('cli/commands/list.ts: No tasks', 'offshoot list', {
        shows: /Started TASK-1/,
        worksNow: 'offshoot reject TASK-1',
      })
      await hint('cli/commands/waiting.ts: offshoot run "what to do"', 'offshoot', {
        shows: /completed|Started|Usage/,
      })
      let demo = ''
      await hint('cli/commands/waiting.ts: try it first', 'offshoot', {
        in: home,
        shows: /real|Usage/,
        after: (command, { stdout, stderr }) => {
          if (command.includes('demo')) demo = stdout + stderr
        },
      })
      await user.follow('cli/commands/demo.ts: That was all real', demo, { shows: /Started my-task/ })
      await user.do('offshoot reject my-task')
      const bare = withNpx(user)
      const tried = await bare.do('npx offshoot demo', home)
      expect(tried.stdout).toContain('npx offshoot start my-task')
      await bare.follow('cli/commands/demo.ts: That was all real', tried.stdout, { shows: /Started my-task/ })
      await hint('cli/commands/waiting.ts: in a repository', 'offshoot', {
        in: home,
        goes: dir,
        shows: /completed|12 tests/,
      })
      const hook = (name: string, event: string) => `echo '{}' | offshoot hook ${name} ${event}`
      await hint('cli/commands/hook.ts: AGENT takes', hook('nobody', 'PostToolUse'), {
        worksNow: (said) => hook(/: (\w+)/.exec(said)?.[1] ?? '', 'WorktreeCreate'),
      })
      await hint('cli/commands/hook.ts: EVENT takes', hook('claude', 'Nothing'), {
        worksNow: (said) => hook('claude', /WorktreeCreate/.exec(said)?.[0] ?? ''),
      })
      await hint(
        'cli/commands/hook.ts: An agent calls',
        'echo no JSON | offshoot hook claude WorktreeCreate',
        { worksNow: hook('claude', 'WorktreeCreate') },
      )
      const crash = path.join(home, 'crash.cjs')
      writeFileSync(
        crash,
        `if (process.argv.includes('--quiet')) { process.stderr.write('crashed\\n'); process.exit(9) }\n`,
      )
      await user
        .with({ NODE_OPTIONS: `--require ${crash}` })
        .hint('process/detached-runs.ts: Its output is in', 'offshoot run --task T1 --detach "do it"', {
          by: (said) => expect(readFileSync(said.split(' is in ')[1] ?? '', 'utf8')).toContain('crashed'),
        })
      const failing = shellWord(play({ fail: 'No.' }))
      await hint('api/handlers/work.ts: Nothing was recorded', `offshoot run --isolation direct ${failing}`, {
        worksNow: 'git status --short',
      })
      const own = path.join(home, 'own.mjs')
      writeFileSync(
        own,
        `export default { name: 'own', title: 'Own', exact: true, asks: true, async *run(_, cell) { await cell.run({ argv: ['touch', 'b.txt'], onOutput() {} }); yield { type: 'ended', ok: false, reason: 'It gave up.' } } }\n`,
      )
      const forgetful = user.with({ OFFSHOOT_AGENT_ADAPTERS: own })
      await forgetful.hint(
        'api/handlers/work.ts: What it did is kept',
        'offshoot run --task T2 --agent own "do it"',
        { shows: /b\.txt/ },
      )
      const [begun, go] = [path.join(home, 'begun'), path.join(home, 'go')]
      const waits = `touch b.txt ${begun}; while ! test -e ${go}; do sleep 0.05; done`
      writeFileSync(
        own,
        readFileSync(own, 'utf8').replace("['touch', 'b.txt']", JSON.stringify(['sh', '-c', waits])),
      )
      await forgetful.do('offshoot run --task T2 --agent own --detach "do it"')
      await until(() => existsSync(begun), 'the agent is at work')
      const attached = await user.interrupt('offshoot attach T2', (shown) => {
        if (shown.includes('at work')) writeFileSync(go, '')
        return shown.includes('failed')
      })
      await user.follow('core/verbs/attach.ts: What it did is kept', attached.stderr, { shows: /b\.txt/ })
    },
  },
  {
    name: 'calls that a program makes',
    async play(meet) {
      const user = meet()
      const { dir } = user.user
      await user.do('offshoot start T1')
      const ports = compose({ env: user.user.env })
      const hintOf = (asked: Promise<unknown>) =>
        asked.then(
          () => 'it worked',
          (thrown: unknown) => appError(thrown).hint,
        )
      const as = (...scopes: Scope[]) => openDoor(ports, () => ({ kind: 'token', scopes }))
      const call = openDoor(ports, () => ({ kind: 'user' }))
      await user.follow(
        'api/caller.ts: Use a token',
        await hintOf(as('look')('task.checkpoint', { repo: dir, task: 'T1' })),
        {
          by: (said) =>
            as(/scope (\w+)/.exec(said)?.[1] as Scope)('task.checkpoint', { repo: dir, task: 'T1' }),
        },
      )
      await user.follow(
        'core/verbs/reject.ts: offshoot ops lists',
        await hintOf(call('task.reject', { repo: dir, task: 'T1', batch: 'none' })),
        { shows: /^/ },
      )
      await user.follow(
        'core/verbs/remove.ts: offshoot worktree list',
        await hintOf(call('worktree.remove', { repo: dir })),
        { shows: /T1/ },
      )
      const direct = { repo: dir, command: ['true'] }
      await user.follow('core/verbs/run-direct.ts: Ask for', await hintOf(call('system.direct', direct)), {
        by: () => call('system.direct', { ...direct, isolation: 'direct' }),
      })
      await user.follow(
        'core/verbs/trust.ts: Look at it again',
        await hintOf(call('system.trust', { repo: dir, fingerprint: 'x' })),
        { shows: /no settings/ },
      )
      await ports.close()
      const library = openAround(dir, { env: user.user.env })
      const wrong = await hintOf(library.start({ task: 5 } as never))
      await library.close()
      await user.follow('protocol/parse.ts: docs/library.md lists', wrong, {
        by: (said) => {
          const file = path.resolve(import.meta.dirname, '../..', said.split(' ')[0] ?? '')
          expect(existsSync(file) && readFileSync(file, 'utf8')).toContain('start(')
        },
      })
    },
  },
  {
    name: 'an answer at a terminal',
    needs: {
      why: noTerminal || undefined,
      hints: ['core/landing/preview.ts: Nothing was written. offshoot diff'],
    },
    async play(meet) {
      const user = meet()
      await user.do('offshoot run --task T1 -- sh -c "echo all: > Makefile; touch b.txt"')
      const shown = await atTerminal(user.user, ['accept', 'T1'], [{ after: 'Land it?', type: 'n\r' }], {
        columns: 300,
      })
      await user.follow('core/landing/preview.ts: Nothing was written. offshoot diff', shown, {
        shows: /Makefile/,
        worksNow: (said) => `offshoot accept T1 ${/--only/.exec(said)?.[0]} b.txt`,
      })
      rmSync(path.join(user.user.dir, 'b.txt'))
    },
  },
  {
    name: 'the live screen',
    needs: {
      why: noTerminal || undefined,
      hints: ['cli/watch/render.ts: No open tasks', 'cli/watch/state.ts: Nothing was done here yet'],
    },
    async play(meet) {
      const plain = meet()
      const user = plain.with(withStandIn(plain.user).env)
      const pty = openPty(user.user, ['watch'], { columns: 120 })
      try {
        await pty.shows('No open tasks')
        await user.follow('cli/watch/render.ts: No open tasks', pty.screen.text(), { shows: /completed/ })
        await pty.shows(/completed/)
        pty.type('u')
        await pty.shows('Nothing was done here yet')
        await user.do('offshoot start T9 && offshoot reject T9')
        await user.follow('cli/watch/state.ts: Nothing was done here yet', pty.screen.text(), {
          shows: /reject/,
        })
        pty.type('q')
        expect(await pty.ended()).toBe(0)
      } finally {
        pty.close()
      }
    },
  },
])
