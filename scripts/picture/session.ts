/** Plays the session of README's picture with the built offshoot, in a throwaway repository with an uncommitted edit. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

interface Typed {
  /** A comment that the user types before the command. */
  readonly note?: string
  readonly command: string
}

export interface Played extends Typed {
  /** What the terminal receives, escape sequences included. */
  readonly output: string
}

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
const agent = path.join(import.meta.dirname, 'agent.ts')

const typed: readonly Typed[] = [
  { note: 'your checkout, with edits that are not committed', command: 'git status --short' },
  {
    note: 'an agent works in its own worktree; each tool call that changes files is a step',
    command: 'offshoot run --task login "Fix the login form"',
  },
  { command: 'offshoot diff login --stat' },
  { note: 'land it beside your own edits', command: 'offshoot accept login' },
  { command: 'git status --short' },
  { note: 'changed your mind? everything is as it was', command: 'offshoot undo' },
  { command: 'git status --short' },
]

const committed = `export function login(name, password) {
  return { name, at: Date.now() }
}
`

export function playSession(columns: number): Played[] {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'offshoot-picture-'))
  try {
    const env = prepare(folder)
    const cwd = path.join(folder, 'shop')
    const at = `stty cols ${columns} rows 40;`
    return typed.map((one) => ({ ...one, output: atTerminal(`${at} ${one.command}`, cwd, env) }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function prepare(folder: string): NodeJS.ProcessEnv {
  const [shop, config, programs] = ['shop', '.config/offshoot', 'bin'].map((name) => path.join(folder, name))
  for (const made of [shop!, config!, programs!]) mkdirSync(made, { recursive: true })
  symlinkSync(process.execPath, path.join(programs!, 'node'))
  symlinkSync(bin, path.join(programs!, 'offshoot'))
  const settings = { agent: { name: 'scripted', adapters: [agent] }, pool: { size: 0 } }
  // YAML reads JSON.
  writeFileSync(path.join(config!, 'config.yaml'), JSON.stringify(settings))
  writeFileSync(path.join(folder, '.gitconfig'), '[user]\n\tname = You\n\temail = you@example.com\n')
  const env = {
    PATH: `${programs}${path.delimiter}${process.env.PATH}`,
    HOME: folder,
    OFFSHOOT_HOME: path.join(folder, 'state'),
    GIT_CONFIG_NOSYSTEM: '1',
    PAGER: 'cat',
    TERM: 'xterm-256color',
  }
  const git = (...args: string[]) => run('git', args, shop!, env)
  writeFileSync(path.join(shop!, 'package.json'), '{ "type": "module" }\n')
  writeFileSync(path.join(shop!, 'login.js'), committed)
  git('init', '--quiet', '--initial-branch=main')
  git('add', '.')
  git('commit', '--quiet', '--message=Log in')
  writeFileSync(path.join(shop!, 'login.js'), `${committed}\n// TODO: log out again\n`)
  writeFileSync(path.join(shop!, 'notes.md'), 'Ask Ada about passkeys.\n')
  return env
}

/** `script` gives the command a terminal, so that offshoot and git print what a person would see. */
function atTerminal(command: string, cwd: string, env: NodeJS.ProcessEnv): string {
  return run('script', ['--quiet', '--return', '--command', command, '/dev/null'], cwd, env)
}

function run(program: string, args: string[], cwd: string, env: NodeJS.ProcessEnv): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, env, encoding: 'utf8' })
  if (error) throw error
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`)
  return stdout
}
