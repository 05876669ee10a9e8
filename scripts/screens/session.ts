/** Plays a day at `offshoot watch` with the built offshoot, in a throwaway repository, and looks at its screen. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { openPty } from '../../test/support/pty.ts'
import { type Act, play, putStandIn } from '../../test/support/stand-in-program.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

/** By the name that docs/watch.md has for it. */
export type Screens = Readonly<Record<'200 columns' | '60 columns' | 'accept', string>>

interface Played {
  readonly task: string
  readonly title: string
  readonly acts?: readonly Act[]
  readonly policy?: string
  /** What the screen shows when it has come as far as it goes. */
  readonly shows: RegExp
}

/** The agent of all of them is a script that speaks as Claude Code does. */
const tasks: readonly Played[] = [
  { task: 'dark-mode', title: 'A dark mode for the settings', shows: /- dark-mode .*active/ },
  {
    task: 'docs',
    title: 'Describe every setting in the manual',
    acts: [{ write: 'settings.md' }, { write: 'index.md' }],
    shows: /\+ docs .*completed/,
  },
  {
    task: 'upload',
    title: 'Show how far an upload is',
    acts: [{ write: 'upload.js' }, { fail: 'API Error: 529 Overloaded' }],
    shows: /x upload .*failed/,
  },
  {
    task: 'search',
    title: 'Make the search find parts of words, in titles as well as in texts',
    acts: [{ write: 'search.js' }, { write: 'search.test.js' }, { sh: 'npm test' }],
    policy: 'permissive',
    shows: /\* search .*running/,
  },
  {
    task: 'login',
    title: 'Fix the login form',
    acts: [{ write: 'login.js' }, { sh: 'npm install zod' }],
    policy: 'moderate',
    shows: /\? login .*asks you/,
  },
]

export async function playScreens(): Promise<Screens> {
  const home = mkdtempSync(path.join(os.tmpdir(), 'offshoot-screens-'))
  try {
    return await played(home, prepare(home))
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

function prepare(home: string): Record<string, string> {
  const [shop, programs] = [path.join(home, 'shop'), path.join(home, 'bin')]
  mkdirSync(shop)
  putStandIn(programs)
  // The tests take long enough to be looked at.
  writeFileSync(path.join(programs, 'npm'), '#!/bin/sh\nexec tail -f /dev/null\n')
  chmodSync(path.join(programs, 'npm'), 0o755)
  writeFileSync(path.join(home, '.gitconfig'), '[user]\n\tname = You\n\temail = you@example.com\n')
  const env = {
    PATH: `${programs}${path.delimiter}${process.env.PATH}`,
    HOME: home,
    OFFSHOOT_HOME: path.join(home, 'state'),
    OFFSHOOT_POOL_SIZE: '0',
    GIT_CONFIG_NOSYSTEM: '1',
  }
  for (const args of [
    ['init', '--quiet', '--initial-branch=main'],
    ['commit', '--quiet', '--allow-empty', '--message=Begin'],
  ])
    execFileSync('git', args, { cwd: shop, env })
  return env
}

async function played(home: string, env: Record<string, string>): Promise<Screens> {
  const dir = path.join(home, 'shop')
  const offshoot = (...args: string[]) =>
    execFileSync(process.execPath, [bin, ...args], { cwd: dir, env, stdio: 'ignore' })
  const pty = openPty({ dir, home, env }, ['watch'], { columns: 200, rows: 14 })
  const looked = () => pty.screen.text().trimEnd()
  try {
    await pty.shows('no open tasks')
    for (const { task, title, acts, policy = 'permissive', shows } of tasks) {
      offshoot('start', task, '--title', title)
      if (acts) offshoot('run', '--task', task, '--policy', policy, '--detach', play(...acts))
      await pty.shows(shows)
    }
    await pty.shows('Bash npm test')
    pty.type('\u001B[H')
    await pty.shows(/^> \? login /m)
    const wide = looked()
    pty.resize(60, 14)
    await pty.hides('TITLE')
    await pty.shows(/q leave$/)
    const narrow = looked()
    pty.type('jjj')
    await pty.shows(/^> \+ docs /m)
    pty.type('a')
    await pty.shows('Accept docs? [y/N]')
    const accept = looked()
    pty.type('nq')
    await pty.ended()
    return { '200 columns': wide, '60 columns': narrow, accept }
  } finally {
    for (const task of ['login', 'search']) offshoot('stop', task)
    pty.close()
  }
}
