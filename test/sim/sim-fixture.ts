/** Where one history runs: a home, a user's repository and a state folder. */
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { type Composed, type ComposeOptions, compose } from '../../src/compose/full.ts'
import { makeCorpusFixture } from '../faults/corpus/corpus-fixture.ts'
import { cleanEnv } from '../support/clean-env.ts'
import type { Canary } from '../support/canary.ts'

const run = promisify(execFile)

/** Dates stand still, so that the same action makes the same commit. */
const dates = { GIT_AUTHOR_DATE: '2030-01-01T00:00:00Z', GIT_COMMITTER_DATE: '2030-01-01T00:00:00Z' }

export interface Template {
  readonly root: string
  readonly canary: Canary
}

/** A user in the middle of their work, made once; each history gets a copy. */
export function makeTemplate(root: string): Template {
  const made = path.join(root, 'template')
  mkdirSync(made, { recursive: true })
  return { root: path.join(made, 'user'), canary: makeCorpusFixture(made, undefined).canary }
}

export class SimFixture {
  readonly home: string
  readonly state: string
  readonly env: Readonly<Record<string, string>>
  readonly canary: Canary
  readonly around: ComposeOptions['around']
  /** The user's checkout. */
  dir: string
  #moves = 0

  constructor({ root, canary }: Template, home: string, around: ComposeOptions['around']) {
    mkdirSync(home, { recursive: true })
    execFileSync('cp', ['-a', root, path.join(home, 'user')])
    writeFileSync(path.join(home, '.gitconfig'), '[user]\n\tname = User\n\temail = user@example.com\n')
    this.home = home
    this.state = path.join(home, 'state')
    this.env = { ...cleanEnv(home), ...dates, OFFSHOOT_HOME: this.state }
    this.canary = canary
    this.around = around
    this.dir = path.join(home, 'user/repo')
  }

  /** Freshly composed, as a process of its own would; close them. */
  ports(around: ComposeOptions['around'] = this.around): Composed {
    return compose({ env: this.env, background: false, ...(around && { around }) })
  }

  async git(...args: string[]): Promise<string> {
    const env = { ...this.env, GIT_OPTIONAL_LOCKS: '0' }
    return (await run('git', args, { cwd: this.dir, env, maxBuffer: 1 << 26, encoding: 'latin1' })).stdout
  }

  at(...names: string[]): string {
    return path.join(this.home, 'user', ...names)
  }

  /** The user puts the repository somewhere else. */
  move(): void {
    const to = this.at(`repo-${++this.#moves}`)
    renameSync(this.dir, to)
    this.dir = to
  }
}
