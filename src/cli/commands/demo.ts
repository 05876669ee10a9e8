import { spawnSync } from 'node:child_process'
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from '../../core/errors.ts'
import type { Answer, Context } from '../command.ts'

const bin = fileURLToPath(new URL('../../../bin/offshoot.js', import.meta.url))

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
  await writeFile(path.join(repo, 'greet.js'), "console.log('hello')\n")
  run('git', 'init', '--quiet', '--initial-branch=main')
  run('git', 'add', '.')
  run('git', 'commit', '--quiet', '--message=Greet')
  await appendFile(path.join(repo, 'greet.js'), '// a thought of mine\n')
  const before = run('git', 'status', '--short')

  say('A task gets its own branch and its own folder, outside of yours:')
  run('offshoot', 'start', 'louder', '--title', 'Greet louder')
  const workspace = run('offshoot', 'cd', 'louder').trim()
  run('git', 'worktree', 'list')

  say('Whatever an agent does there, your checkout does not change:')
  await writeFile(path.join(workspace, 'greet.js'), "console.log('HELLO')\n")
  run('offshoot', 'show', 'louder')
  run('offshoot', 'list')
  const after = run('git', 'status', '--short')
  if (before !== after) throw new AppError('WT_020', 'The checkout changed: that must never happen.')

  say('Uncommitted work is not thrown away by accident, and what goes, goes into the trash:')
  run('!offshoot', 'worktree', 'remove', '--task', 'louder')
  run('offshoot', 'worktree', 'remove', '--task', 'louder', '--force')
  run('git', 'worktree', 'list')
}

function demoShell({ tell, paint }: Context, folder: string): DemoShell {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    OFFSHOOT_HOME: path.join(folder, 'state'),
    GIT_AUTHOR_NAME: 'You',
    GIT_AUTHOR_EMAIL: 'you@example.com',
    GIT_COMMITTER_NAME: 'You',
    GIT_COMMITTER_EMAIL: 'you@example.com',
  }
  const lines: DemoShell['lines'] = []
  return {
    lines,
    say: (words) => tell(`\n${paint('bold', words)}`),
    /** A command that begins with `!` must fail. */
    run(name, ...args) {
      const mustFail = name.startsWith('!')
      const command = [name.replace('!', ''), ...args.map(quoted)].join(' ')
      const words = name.endsWith('offshoot') ? [process.execPath, bin, ...args] : [name, ...args]
      const [program = '', ...rest] = words
      const { status, stdout, stderr } = spawnSync(program, rest, {
        cwd: path.join(folder, 'shop'),
        env,
        encoding: 'utf8',
      })
      const output = (stdout + stderr).trimEnd()
      lines.push({ command, output })
      tell([`${paint('cyan', '$')} ${command}`, ...(output === '' ? [] : [indented(output)])].join('\n'))
      if ((status !== 0) !== mustFail)
        throw new AppError('WT_020', `${command} ended with ${status}: ${output}`)
      return stdout
    },
  }
}

function quoted(arg: string): string {
  return /^[\w./=-]+$/.test(arg) ? arg : `'${arg}'`
}

function indented(output: string): string {
  return output.replace(/^/gm, '  ')
}
