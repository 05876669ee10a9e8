import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { AppError } from '../../core/errors.ts'
import { quoted } from '../../core/quoted.ts'
import type { Answer, Context } from '../command.ts'
import { printable } from '../output.ts'

/**
 * Plays a user at a shell, in a temporary folder with a state folder of its own: every line shown is really run,
 * and a line that does not do what it should fails the demo.
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
      text: `\nThat was all real, in ${seconds.toFixed(1)} s. Now in a repository of yours: offshoot start my-task`,
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface DemoShell {
  readonly lines: { command: string; output: string }[]
  say(words: string): void
  run(command: string, ...args: string[]): string
}

async function play({ say, run }: DemoShell, repo: string): Promise<void> {
  say('A repository, with an edit of yours that is not committed:')
  await mkdir(repo)
  await writeFile(path.join(repo, '..', '.gitconfig'), '[user]\n\tname = You\n\temail = you@example.com\n')
  await writeFile(path.join(repo, 'greet.js'), greeting('hello'))
  run('git', 'init', '--quiet', '--initial-branch=main')
  run('git', 'add', '.')
  run('git', 'commit', '--quiet', '--message=Greet')
  await writeFile(path.join(repo, 'greet.js'), `// a thought of mine\n${greeting('hello')}`)
  const before = run('git', 'diff')

  say('An agent (here a script) works in its own worktree; each of its tool calls becomes a step:')
  run('offshoot', 'start', 'louder', '--title', 'Greet louder')
  const agent = {
    edit: 'sed -i.bak s/hello/HELLO/ greet.js && rm greet.js.bak',
    test: 'echo "// it greets" > greet.test.js',
  }
  run('offshoot', 'exec', 'louder', '--', 'sh', '-c', agent.edit)
  run('offshoot', 'exec', 'louder', '--', 'sh', '-c', agent.test)
  run('offshoot', 'log', 'louder')
  run('offshoot', 'diff', 'louder', '--stat')

  say('Your checkout has not changed. You see what would land, and land it beside your own edit:')
  if (run('git', 'diff') !== before)
    throw new AppError('WT_020', 'The checkout changed: that must never happen.')
  run('offshoot', 'accept', 'louder', '--dry-run')
  run('offshoot', 'accept', 'louder')
  run('git', 'status', '--short')
  run('git', 'diff')

  say('Everything can be undone: your checkout is as it was, and the task is open again:')
  run('offshoot', 'undo')
  if (run('git', 'diff') !== before) throw new AppError('WT_020', 'The undo did not bring everything back.')
  run('offshoot', 'list')

  say('The same work as one commit on another branch, without touching any checkout:')
  run('git', 'branch', 'release')
  run('offshoot', 'accept', 'louder', '--as', 'squash', '--onto', 'release')
  run('git', 'log', '--oneline', 'release')
  run('offshoot', 'ops')
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
    run(name, ...args) {
      const command = [name, ...args.map(quoted)].join(' ')
      const words = name === 'offshoot' ? [process.execPath, process.argv[1] ?? '', ...args] : [name, ...args]
      const [program = '', ...rest] = words
      const { status, stdout, stderr } = spawnSync(program, rest, {
        cwd: path.join(folder, 'shop'),
        env,
        encoding: 'utf8',
      })
      const output = (stdout + stderr).trimEnd()
      lines.push({ command, output })
      tell(
        [`${paint('cyan', '$')} ${command}`, ...(output === '' ? [] : [indented(printable(output))])].join(
          '\n',
        ),
      )
      if (status !== 0) throw new AppError('WT_020', `${command} ended with ${status}: ${output}`)
      return stdout
    },
  }
}

function indented(output: string): string {
  return output.replace(/^/gm, '  ')
}
