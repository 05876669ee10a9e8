/** The environment of a git call: nothing leaks in, and hostile config has no effect. */
import { describe, expect, test } from 'vitest'
import { type GitScope, gitEnvironment } from './environment.ts'

const user = {
  PATH: '/bin',
  HOME: '/home/me',
  XDG_CONFIG_HOME: '/home/me/.cfg',
  GIT_DIR: '/elsewhere',
  GIT_WORK_TREE: '/elsewhere',
  GIT_INDEX_FILE: '/elsewhere/index',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'alias.x',
  GIT_CONFIG_VALUE_0: '/evil',
  GIT_CONFIG_PARAMETERS: "'core.hooksPath=/evil'",
  GIT_SSH_COMMAND: 'evil',
  GIT_EXTERNAL_DIFF: 'evil',
  GIT_TRACE: '/tmp/trace',
  GIT_NAMESPACE: 'other',
  LD_PRELOAD: '/evil.so',
  LANG: 'de_DE.UTF-8',
  EDITOR: 'vi',
  PAGER: 'less',
}

/** The config that git takes from the environment; of a key given twice the last counts, as with git. */
function configOf(env: Record<string, string>): Map<string, string> {
  const count = Number(env.GIT_CONFIG_COUNT)
  const entries = Array.from({ length: count }, (_, n) => [
    env[`GIT_CONFIG_KEY_${n}`],
    env[`GIT_CONFIG_VALUE_${n}`],
  ])
  expect(entries.flat()).not.toContain(undefined)
  return new Map(entries as [string, string][])
}

const scopes: [string, GitScope][] = [
  ['raw', {}],
  ['user', { config: 'user' }],
]

describe('gitEnvironment', () => {
  test.each(scopes)('S1: nothing of the user’s is inherited but an allow-list (%s)', (_, scope) => {
    const env = gitEnvironment(user, scope)
    expect(env).toMatchObject({
      PATH: '/bin',
      HOME: '/home/me',
      XDG_CONFIG_HOME: '/home/me/.cfg',
      LC_ALL: 'C',
    })
    const given = new Set(Object.values(user))
    const kept = Object.keys(env).filter((name) => given.has(env[name] ?? '') && name in user)
    expect(kept.toSorted()).toEqual(['HOME', 'PATH', 'XDG_CONFIG_HOME'])
    expect(JSON.stringify(env)).not.toContain('evil')
    for (const name of ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_TRACE', 'GIT_NAMESPACE', 'LANG']) {
      expect(env).not.toHaveProperty(name)
    }
  })

  test('A2: a call that asks who the user is sees the names and addresses, and no more', () => {
    const named = {
      GIT_AUTHOR_NAME: 'Ada',
      GIT_AUTHOR_EMAIL: 'ada@x',
      GIT_COMMITTER_NAME: 'Bob',
      GIT_COMMITTER_EMAIL: 'bob@x',
    }
    const from = { ...user, ...named, GIT_AUTHOR_DATE: 'yesterday', EMAIL: 'evil@x' }
    const [asked, plain] = [true, false].map((identity) =>
      gitEnvironment(from, { config: 'user', ...(identity && { identity }) }),
    )
    expect(asked).toEqual({ ...plain, ...named })
    expect(plain).not.toHaveProperty('GIT_AUTHOR_NAME')
  })

  test.each(scopes)('S1: hooks, watchers, prompts, pagers and the network are off (%s)', (_, scope) => {
    const env = gitEnvironment(user, scope)
    expect(env).toMatchObject({
      GIT_TERMINAL_PROMPT: '0',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_PAGER: 'cat',
      GIT_ALLOW_PROTOCOL: '',
    })
    expect(Object.fromEntries(configOf(env))).toMatchObject({
      'core.hooksPath': '/dev/null',
      'core.fsmonitor': 'false',
      'core.pager': 'cat',
      'gc.auto': '0',
      'maintenance.auto': 'false',
      'submodule.recurse': 'false',
      'protocol.allow': 'never',
      'safe.bareRepository': 'explicit',
      'hook.post-checkout.enabled': 'false',
      'hook.reference-transaction.enabled': 'false',
      'hook.post-index-change.enabled': 'false',
    })
  })

  test('S1: plumbing is deaf to the config and conversions of the user and the system; filling is not', () => {
    const raw = gitEnvironment(user, {})
    expect(raw).toMatchObject({
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_ATTR_NOSYSTEM: '1',
    })
    expect(configOf(raw).get('core.autocrlf')).toBe('false')
    expect(configOf(raw).get('core.attributesFile')).toBe('/dev/null')
    const filling = gitEnvironment(user, { config: 'user' })
    for (const name of ['GIT_CONFIG_NOSYSTEM', 'GIT_CONFIG_GLOBAL', 'GIT_ATTR_NOSYSTEM']) {
      expect(filling).not.toHaveProperty(name)
    }
    expect(configOf(filling).has('core.autocrlf')).toBe(false)
    expect(configOf(filling).has('core.attributesFile')).toBe(false)
  })

  test('S1: the repository, the files and the index are those of the call', () => {
    expect(gitEnvironment(user, { gitDir: '/r/.git', workTree: '/w', indexFile: '/w/i' })).toMatchObject({
      GIT_DIR: '/r/.git',
      GIT_WORK_TREE: '/w',
      GIT_INDEX_FILE: '/w/i',
    })
  })

  test('S1: what the user has not set is not set', () => {
    expect(Object.keys(gitEnvironment({}, {}))).not.toContain('HOME')
  })
})

test('P4: only a call that may reach out sees the agent of ssh, and only one that was asked to runs hooks', () => {
  const from = { PATH: '/bin', SSH_AUTH_SOCK: '/run/agent', GIT_DIR: '/elsewhere' }
  const settings = (env: Record<string, string>) => Object.values(env)
  const plain = gitEnvironment(from, {})
  expect(plain).not.toHaveProperty('SSH_AUTH_SOCK')
  expect(plain.GIT_ALLOW_PROTOCOL).toBe('')
  expect(settings(plain)).toEqual(expect.arrayContaining(['protocol.allow', 'core.hooksPath']))
  const out = gitEnvironment(from, { network: true })
  expect(out).toMatchObject({ SSH_AUTH_SOCK: '/run/agent', GIT_TERMINAL_PROMPT: '0' })
  expect(out).not.toHaveProperty('GIT_DIR')
  expect(settings(out)).toContain('core.hooksPath')
  expect(settings(out)).not.toContain('protocol.allow')
  const hooked = settings(gitEnvironment(from, { hooks: true }))
  expect(hooked.filter((key) => key === 'core.hooksPath' || key.startsWith('hook.'))).toEqual([])
  expect(hooked).toContain('core.fsmonitor')
})
