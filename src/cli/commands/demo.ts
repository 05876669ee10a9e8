/** `demo`: plays start, accept and undo on a throwaway repository. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { AppError } from '../../core/model/errors.ts'
import { quoted } from '../../core/base/shell-quote.ts'
import { findProgram } from '../../process/programs.ts'
import { run as runProgram } from '../../process/spawn.ts'
import type { Answer, Context } from '../command.ts'
import { printableText } from '../output.ts'

/**
 * Runs every printed line in a temporary folder with a state folder of its own. A line that fails, or that changes the
 * checkout when it must not, fails the demo.
 */
export async function demo(context: Context): Promise<Answer> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'offshoot-demo-'))
  const began = performance.now()
  try {
    const shell = demoShell(context, folder)
    await play(shell, path.join(folder, 'shop'))
    const seconds = (performance.now() - began) / 1000
    return {
      json: { lines: shell.lines, seconds },
      text: `\nThat was all real, in ${seconds.toFixed(1)} s. Now in a repository of yours: ${isOnlyInNpx(context.env) ? 'npx ' : ''}offshoot start my-task`,
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Whether the user has this program only through npx, and has to type that next time as well: npx puts it into a PATH of its
 * own, with folders `node_modules/.bin` that the user's shell does not have.
 */
export function isOnlyInNpx({ npm_command: command, PATH = '' }: NodeJS.ProcessEnv): boolean {
  if (command !== 'exec') return false
  const own = PATH.split(path.delimiter).filter((folder) => !/\/node_modules\/\.bin\/?$/.test(folder))
  return findProgram('offshoot', '/', own.join(path.delimiter)) === undefined
}

interface DemoShell {
  readonly lines: { command: string; output: string }[]
  say(words: string): void
  run(command: string, ...args: string[]): Promise<string>
}

async function play({ say, run }: DemoShell, repo: string): Promise<void> {
  say('A repository, with an edit of yours that is not committed:')
  await mkdir(repo)
  await writeFile(path.join(repo, '..', '.gitconfig'), '[user]\n\tname = You\n\temail = you@example.com\n')
  await writeFile(path.join(repo, 'greet.js'), greeting('hello'))
  await run('git', 'init', '--quiet', '--initial-branch=main')
  await run('git', 'add', '.')
  await run('git', 'commit', '--quiet', '--message=Greet')
  await writeFile(path.join(repo, 'greet.js'), `// a thought of mine\n${greeting('hello')}`)
  const before = await run('git', 'diff')

  say('An agent (here a script) works in its own worktree; each command becomes a step:')
  await run('offshoot', 'start', 'louder', '--title', 'Greet louder')
  const agent = {
    edit: 'sed -i.bak s/hello/HELLO/ greet.js && rm greet.js.bak',
    test: 'echo "// it greets" > greet.test.js',
  }
  await run('offshoot', 'exec', 'louder', '--', 'sh', '-c', agent.edit)
  await run('offshoot', 'exec', 'louder', '--', 'sh', '-c', agent.test)
  await run('offshoot', 'log', 'louder')
  await run('offshoot', 'diff', 'louder', '--stat')

  say('Your checkout has not changed. You see what would land, and land it beside your own edit:')
  if ((await run('git', 'diff')) !== before)
    throw new AppError('failed', 'The checkout changed: that must never happen.')
  await run('offshoot', 'accept', 'louder', '--dry-run')
  await run('offshoot', 'accept', 'louder')
  await run('git', 'status', '--short')
  await run('git', 'diff')

  say('Everything can be undone: your checkout is as it was, and the task is open again:')
  await run('offshoot', 'undo')
  if ((await run('git', 'diff')) !== before)
    throw new AppError('failed', 'The undo did not bring everything back.')
  await run('offshoot', 'list')

  say('The same work as one commit on another branch, without touching any checkout:')
  await run('git', 'branch', 'release')
  await run('offshoot', 'accept', 'louder', '--as', 'squash', '--onto', 'release')
  await run('git', 'log', '--oneline', 'release')
  await run('offshoot', 'ops')
}

function greeting(word: string): string {
  return `export function greet(name) {\n  return '${word} ' + name\n}\n\nconsole.log(greet('you'))\n`
}

function demoShell({ tell, paint }: Context, folder: string): DemoShell {
  const env = {
    PATH: process.env.PATH,
    OFFSHOOT_POOL_SIZE: '0',
    HOME: folder,
    OFFSHOOT_HOME: path.join(folder, 'state'),
    GIT_CONFIG_NOSYSTEM: '1',
  }
  const lines: DemoShell['lines'] = []
  return {
    lines,
    say: (words) => tell(`\n${paint('bold', words)}`),
    async run(name, ...args) {
      const command = [name, ...args.map(quoted)].join(' ')
      const words = name === 'offshoot' ? [process.execPath, process.argv[1] ?? '', ...args] : [name, ...args]
      const [program = '', ...rest] = words
      const { code, stdout, stderr } = await runProgram(program, rest, {
        cwd: path.join(folder, 'shop'),
        env,
      })
      const output = (stdout + stderr).trimEnd()
      lines.push({ command, output })
      tell(
        [
          `${paint('cyan', '$')} ${command}`,
          ...(output === '' ? [] : [indented(printableText(output))]),
        ].join('\n'),
      )
      if (code !== 0) throw new AppError('failed', `${command} ended with ${code}: ${output}`)
      return stdout
    },
  }
}

function indented(output: string): string {
  return output.replace(/^/gm, '  ')
}
