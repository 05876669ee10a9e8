/** A user's repository in the middle of their work, and what an agent may meet around it. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { makeCanary } from '../../support/canary.ts'
import type { CorpusFixture } from './action.ts'

/** Clocks stand still for the agent, so that the same action makes the same commits wherever it is done. */
const agentEnv = {
  GIT_AUTHOR_DATE: '2030-01-01T00:00:00Z',
  GIT_COMMITTER_DATE: '2030-01-01T00:00:00Z',
  GIT_EDITOR: 'true',
}

const userFiles = {
  '.gitignore': '*.log\n',
  'a.txt': 'one\n',
  'clash.txt': 'base\n',
  'edited.txt': 'base\n',
  'run.sh': '#!/bin/sh\necho run\n',
  'src/b.txt': 'two\n',
  'src/deep/c.txt': 'three\n',
}

/** Uncommitted work, a stash, another branch, a tag: all that must stay. */
const userWork = `
chmod +x run.sh && ln -s a.txt link && printf '\\000\\377binary' > data.bin
git add --all && git commit --quiet --message='First commit'
git tag v1 && git checkout --quiet -b feature
echo feature > feature.txt && echo feature > clash.txt
git add --all && git commit --quiet --message=Feature && git checkout --quiet main
echo second > second.txt && git add --all && git commit --quiet --message='Second commit'
git gc --quiet && git commit --quiet --allow-empty --message=Loose
echo stashed > a.txt && git stash --quiet
echo mine > a.txt && echo staged > staged.txt && git add staged.txt
echo untracked > untracked.txt && echo ignored > user.log`

export function makeCorpusFixture(root: string, before: string | undefined): Omit<CorpusFixture, 'space'> {
  const at = (name: string) => path.join(root, 'user', name)
  const canary = makeCanary(path.join(root, 'nest'))
  const found = { repo: at('repo'), other: at('other'), outside: at('outside'), canary }
  mkdirSync(path.join(root, 'tmp'))
  makeRepo(found.other, { 'victim.txt': 'victim\n' })
  makeRepo(found.repo, userFiles)
  bash(found.repo, `set -e; ${userWork}; ${before ?? ''}`)
  mkdirSync(path.join(found.outside, 'deep'), { recursive: true })
  for (const name of ['b.txt', 'deep/c.txt', 'secret'])
    writeFileSync(path.join(found.outside, name), `secret ${name}\n`)
  return found
}

function makeRepo(dir: string, files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(dir, name)), { recursive: true })
    writeFileSync(path.join(dir, name), content)
  }
  bash(dir, `git init --quiet --initial-branch=main && git add --all && git commit --quiet --message=Start`)
}

/** What offshoot's steps 1 to 3 consist of, and then an edit that no step has yet. */
export const stepScripts = [
  'echo 1 >> a.txt && echo 1 > s1.txt && echo noise > noise.log',
  'rm second.txt && mkdir -p made/here && echo 2 > made/here/s2.txt && chmod +x s1.txt',
  'echo 3 >> run.sh && ln -sfn src/b.txt link && printf "\\000\\001" > data.bin',
]
export const openEdit = 'echo open >> edited.txt && echo open > open.txt'
/** What every agent does after its action, so that there is something to take. */
export const lastEdit = 'echo last >> edited.txt && echo last > new.txt'

export function bash(cwd: string, script: string, env: Record<string, string> = {}): void {
  const { status, signal, stderr } = spawnSync('bash', ['-c', script], {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    timeout: 60_000,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (status !== 0) throw new Error(`${script}\nended with ${status ?? signal}: ${stderr}`)
}

function placesOf({ repo, space, other, outside, canary }: CorpusFixture): Record<string, string> {
  const reach = (option: string) =>
    execFileSync('git', ['rev-parse', '--path-format=absolute', option], {
      cwd: space,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  const [COMMON, GITDIR] = [reach('--git-common-dir'), reach('--git-dir')]
  const TMPDIR = path.join(path.dirname(path.dirname(canary.command)), 'tmp')
  return {
    SPACE: space,
    USERS: repo,
    OTHER: other,
    OUTSIDE: outside,
    CANARY: canary.command,
    NODE: process.execPath,
    COMMON,
    GITDIR,
    TMPDIR,
    ...agentEnv,
  }
}

/** Does the action in the workspace. */
export function act(
  fixture: CorpusFixture,
  script: string,
  env: Readonly<Record<string, string>> = {},
): void {
  bash(fixture.space, script, { ...env, ...placesOf(fixture) })
}

/** Keeps doing it until the answer is called. */
export function keepActing(fixture: CorpusFixture, script: string): () => Promise<void> {
  const child = spawn('bash', ['-c', script], {
    cwd: fixture.space,
    detached: true,
    stdio: 'ignore',
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  return async () => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    await ended
  }
}

/** The same without offshoot: a copy of the repository, and a worktree that git itself made. */
export function makeControl(
  { repo, other, outside, space, canary }: CorpusFixture,
  root: string,
): CorpusFixture {
  const to = (from: string) => path.join(root, path.basename(from))
  mkdirSync(root)
  for (const from of [repo, other, outside]) execFileSync('cp', ['-a', from, to(from)])
  const control = {
    repo: to(repo),
    other: to(other),
    outside: to(outside),
    space: path.join(root, 'space'),
    canary,
  }
  bash(
    control.repo,
    `rm -rf .git/worktrees && git worktree add --quiet --force '${control.space}' offshoot/T1`,
  )
  bash(control.space, openEdit)
  if (existsSync(path.join(space, 'noise.log'))) {
    writeFileSync(path.join(control.space, 'noise.log'), readFileSync(path.join(space, 'noise.log')))
  }
  return control
}
