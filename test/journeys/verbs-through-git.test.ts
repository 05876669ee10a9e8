/** P4.1: how git is called, whatever the verb: seen by a git on the PATH that notes its words and its environment. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OpenRepo, openRepo } from '../../src/index.ts'
import { fileFolder } from '../support/file-folder.ts'
import { type GitCalled, recordGit } from '../support/git-record.ts'
import { cleanEnv } from '../support/clean-env.ts'

const home = fileFolder(os.tmpdir())
const dir = path.join(home, 'repo')
const record = recordGit(path.join(home, 'record'))
const clean = cleanEnv(home)
const tools = path.join(home, 'tools')

/** What a shell, a hook or an agent may have left in the environment. None of it may reach git. */
const poison = {
  GIT_DIR: '/nowhere',
  GIT_WORK_TREE: '/nowhere',
  GIT_INDEX_FILE: '/nowhere/index',
  GIT_OBJECT_DIRECTORY: '/nowhere/objects',
  GIT_NAMESPACE: 'other',
  GIT_EXTERNAL_DIFF: '/nowhere/diff',
  GIT_CONFIG_PARAMETERS: "'core.hooksPath=/nowhere'",
  GIT_TRACE: '/nowhere/trace',
  GIT_PAGER: '/nowhere/pager',
  GIT_EDITOR: '/nowhere/editor',
  GIT_ASKPASS: '/nowhere/ask',
  SSH_ASKPASS: '/nowhere/ask',
  PAGER: '/nowhere/pager',
  LD_PRELOAD: '',
  LANG: 'de_DE.UTF-8',
  BASH_ENV: '/nowhere/env',
}

const git = (...args: string[]) => execFileSync('git', args, { cwd: dir, env: clean, stdio: 'pipe' })
const write = (folder: string, name: string, content: string) =>
  writeFileSync(path.join(folder, name), content)

let offshoot: OpenRepo

beforeAll(() => {
  for (const folder of [dir, tools]) mkdirSync(folder)
  git('init', '--quiet', '--initial-branch=main')
  git('config', '--global', 'user.name', 'User')
  git('config', '--global', 'user.email', 'user@example.com')
  for (const name of ['a.txt', 'b.txt', 'c.txt']) write(dir, name, `${name}\n`)
  git('add', '--all')
  git('commit', '--quiet', '--message=First commit')
  git('branch', 'feature')
  git('init', '--quiet', '--bare', path.join(home, 'remote.git'))
  git('remote', 'add', 'origin', path.join(home, 'remote.git'))
  writeFileSync(path.join(tools, 'gh'), '#!/bin/sh\necho https://example.com/pull/7\n', { mode: 0o755 })
  const PATH = [record.bin, tools, clean.PATH].join(path.delimiter)
  offshoot = openRepo(dir, { env: { ...clean, ...poison, PATH, OFFSHOOT_LIMITS_PER_REPO: '100' } })
})

afterAll(async () => {
  await offshoot.close()
})

let tasks = 0

/** A task in which an agent has worked. */
async function worked(isolation?: 'clone' | 'branch'): Promise<string> {
  const id = `T${++tasks}`
  const { task } = await offshoot.start({ task: id, ...(isolation && { isolation }) })
  write(task.path, `${id}.txt`, `${id}\n`)
  await offshoot.checkpoint({ task: id, ignored: true })
  write(task.path, `${id}-later.txt`, `${id}\n`)
  return id
}

/** Every verb once, and each way to land. */
const verbs: Readonly<Record<string, () => Promise<unknown>>> = {
  'start, checkpoint': () => worked(),
  'start of a clone': () => worked('clone'),
  'show, log, diff, list': async () => {
    const id = await worked()
    await offshoot.show(id)
    await offshoot.log(id)
    await offshoot.diff({ task: id, hunks: true })
    await offshoot.list()
  },
  rewind: async () => offshoot.rewind({ task: await worked(), to: 0 }),
  run: async () => offshoot.run({ task: await worked(), create: false, command: ['true'] }),
  update: async () => offshoot.update({ task: await worked(), onto: 'feature' }),
  ...Object.fromEntries(
    (['patch', 'squash', 'merge', 'rebase', 'keep-branch', 'pr'] as const).map((as) => [
      `accept --as ${as}`,
      async () => offshoot.accept({ task: await worked(), as }),
    ]),
  ),
  'accept of a part': async () =>
    offshoot.accept({ task: await worked(), as: 'patch', only: ['*-later.txt'] }),
  'undo and redo': async () => {
    await offshoot.reject({ task: await worked() })
    const { operation } = await offshoot.undo()
    await offshoot.undo(operation)
  },
  reject: async () => offshoot.reject({ task: await worked() }),
  delete: async () => offshoot.delete(await worked()),
  'worktree remove': async () => offshoot.remove({ task: await worked(), force: true }),
  repair: async () => {
    const id = await worked()
    rmSync(path.join((await offshoot.find(id))!.path, '.git'))
    await offshoot.repair(id)
  },
  'start of a folder that is gone': async () => {
    const id = await worked()
    rmSync((await offshoot.find(id))!.path, { recursive: true })
    await offshoot.start({ task: id })
  },
  'prune, doctor, recover, ops': async () => {
    await offshoot.prune()
    await offshoot.doctor()
    await offshoot.recover()
    await offshoot.ops()
  },
  'a shadow branch': async () => {
    const id = await worked('branch')
    await offshoot.reject({ task: id })
  },
  'repos forget': () => offshoot.forget(),
}

const neutral = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.pager': 'cat',
  'color.ui': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'submodule.recurse': 'false',
  'safe.bareRepository': 'explicit',
  'hook.pre-commit.enabled': 'false',
  'hook.reference-transaction.enabled': 'false',
  'hook.post-checkout.enabled': 'false',
  'hook.post-index-change.enabled': 'false',
}

const always = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_PAGER: 'cat',
  GIT_EDITOR: 'false',
}

/** Of the machine's, and set by us. Nothing else may be there. */
const known =
  /^(OFFSHOOT_INTERNAL_OWNER|PATH|HOME|USER|LOGNAME|TMPDIR|LC_ALL|GIT_(TERMINAL_PROMPT|OPTIONAL_LOCKS|NO_REPLACE_OBJECTS|PAGER|EDITOR|ALLOW_PROTOCOL|LITERAL_PATHSPECS|CONFIG_NOSYSTEM|CONFIG_GLOBAL|ATTR_NOSYSTEM|(COMMITTER|AUTHOR)_(NAME|EMAIL|DATE)|DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|CONFIG_COUNT|CONFIG_(KEY|VALUE)_\d+))$/

/** The only one that may speak to another repository. */
const reachesOut = ({ args }: GitCalled) => args[0] === 'push'

function wrongWith(call: GitCalled): string[] {
  const expected = reachesOut(call) ? {} : { 'protocol.allow': 'never', 'core.askPass': '' }
  const config = Object.entries({ ...neutral, ...expected }).filter(
    ([key, value]) => call.config[key] !== value,
  )
  const variables = Object.entries(always).filter(([name, value]) => call.env[name] !== value)
  const foreign = Object.entries(call.env).filter(
    ([name, value]) => !known.test(name) || value.includes('/nowhere'),
  )
  const wrong = [
    ...config.map(([key]) => `${key} is ${call.config[key]}`),
    ...variables.map(([name]) => `${name} is ${call.env[name]}`),
    ...foreign.map(([name]) => `${name} is there`),
    ...(!reachesOut(call) && call.env.GIT_ALLOW_PROTOCOL !== '' ? ['it may use the network'] : []),
    // Where it is not told, git looks around it for a repository, and finds what somebody put there.
    ...(call.args[0] !== 'version' && call.env.GIT_DIR === undefined
      ? ['it looks for a repository by itself']
      : []),
    ...(call.args[0]?.startsWith('-') ? ['it does not begin with its verb'] : []),
  ]
  return wrong.map((line) => `git ${call.args.join(' ')}: ${line}`)
}

describe('P4: of every git that a verb calls, hooks, watchers, pagers, prompts and the network are off', () => {
  test.each(Object.keys(verbs))('%s', async (name) => {
    record.take()
    await verbs[name]?.()
    const calls = record.take()
    expect(calls.flatMap(wrongWith)).toEqual([])
    expect(calls.length).toBeGreaterThan(0)
  })
})
