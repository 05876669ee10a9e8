/** Settings from all their places: which one wins, and what goes wrong in each. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AppError } from '../core/model/errors.ts'
import { defaultSettings, type Setting } from '../core/model/settings.ts'
import { defaults, type SettingKey } from './keys.ts'
import { settingsSource, type SettingsOptions } from './source.ts'

let root: string
let checkout: string
let repoFile: string
let userFile: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'offshoot-settings-'))
  checkout = join(root, 'repo')
  repoFile = join(checkout, '.offshoot.yaml')
  userFile = join(root, 'config.yaml')
  mkdirSync(checkout)
})
afterEach(() => rmSync(root, { recursive: true }))

const source = (options: Partial<SettingsOptions> = {}) =>
  settingsSource({
    userFile,
    env: {},
    home: join(root, 'state'),
    userHome: root,
    findOwner: async (folder) => folder,
    isTrusted: async () => false,
    ...options,
  })
const read = (options?: Partial<SettingsOptions>) => source(options).read(checkout)

async function failure(options?: Partial<SettingsOptions>): Promise<AppError> {
  const error = await read(options).then(
    () => expect.fail('the settings were accepted'),
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(AppError)
  expect(error).toHaveProperty('code', 'WT_016')
  return error as AppError
}

function failureOf(yaml: string | Uint8Array): Promise<AppError> {
  writeFileSync(repoFile, yaml)
  return failure()
}

describe('I6: settings from file, user file, environment and flags; the later wins', () => {
  test('nothing set: the defaults', async () => {
    expect(await read()).toEqual(defaultSettings)
    expect(await source().read(null)).toEqual(defaultSettings)
  })

  test('each place overrules the ones before it, key by key, and the origin is known', async () => {
    writeFileSync(
      repoFile,
      'limits: { perRepo: 1, timeMinutes: 1, turns: 1 }\nlock: { waitSeconds: 1 }\nprune: { minKeep: 1, maxAgeDays: 1 }',
    )
    writeFileSync(
      userFile,
      'limits: { perRepo: 3, turns: 3 }\nlock: { waitSeconds: 3 }\nprune: { minKeep: 3 }',
    )
    const env = { OFFSHOOT_LIMITS_PER_REPO: '4', OFFSHOOT_LOCK_WAIT_SECONDS: '4' }
    const all = source({ env, flags: { lock: { waitSeconds: 5 }, branch: { name: undefined } } })
    expect(await all.read(checkout)).toEqual({
      ...defaultSettings,
      prune: { ...defaultSettings.prune, minKeep: 3 },
      limits: { ...defaultSettings.limits, perRepo: 4, timeMinutes: 1, turns: 3 },
      lock: { waitSeconds: 5 },
    })
    const set: Partial<Record<SettingKey, Partial<Setting>>> = {
      'limits.perRepo': { value: 4, origin: 'OFFSHOOT_LIMITS_PER_REPO' },
      'limits.timeMinutes': { value: 1, origin: repoFile, isForeign: true },
      'limits.turns': { value: 3, origin: userFile },
      'lock.waitSeconds': { value: 5, origin: 'flag' },
      'prune.maxAgeDays': { waiting: 1 },
      'prune.minKeep': { value: 3, origin: userFile },
    }
    expect(await all.readWithOrigin(checkout)).toEqual(
      [...defaults].map(([key, value]) => ({
        key,
        value,
        origin: 'default',
        isForeign: false,
        ...set[key],
      })),
    )
  })

  test.each(['', '\n', '# limits:\n#   perRepo: 3\n', '\uFEFFlimits:\n  # perRepo: 3\n', '---\n'])(
    'a file that sets nothing is fine: %j',
    async (yaml) => {
      writeFileSync(repoFile, yaml)
      expect(await read()).toEqual(defaultSettings)
    },
  )

  test('a bare repository has no file of its own', async () => {
    writeFileSync(repoFile, 'nonsense')
    expect(await source().read(null)).toEqual(defaultSettings)
  })
})

describe('H1: a repository’s own file is taken at its word only where that is harmless', () => {
  const trusting = { isTrusted: async () => true }
  const found = async (key: string, options?: Partial<SettingsOptions>) =>
    (await source(options).readWithOrigin(checkout)).find((setting) => setting.key === key)

  test('what could run something or lose something waits for trust, and the next place counts', async () => {
    writeFileSync(
      repoFile,
      'hooks: { postStart: ./evil }\ntrash: { keepDays: 0 }\nbranch: { name: "x/{task}" }',
    )
    writeFileSync(userFile, 'trash: { keepDays: 90 }')
    expect(await found('hooks.postStart')).toEqual({
      key: 'hooks.postStart',
      value: '',
      origin: 'default',
      isForeign: false,
      waiting: './evil',
    })
    expect(await found('trash.keepDays')).toMatchObject({ value: 90, origin: userFile })
    expect(await found('trash.keepDays')).not.toHaveProperty('waiting')
    expect(await found('branch.name')).toMatchObject({ value: 'x/{task}', isForeign: true })
    expect(await found('hooks.postStart', trusting)).toMatchObject({ value: './evil', isForeign: true })
  })

  test('trust is asked for exactly the values that need it, and a failure is a no', async () => {
    writeFileSync(repoFile, 'hooks: { preRun: a }\nlimits: { perRepo: 99, turns: 3 }\nkeepFailed: false')
    const asked: unknown[] = []
    await read({ isTrusted: async (...values) => (asked.push(values), true) })
    const values = [
      { key: 'hooks.preRun', value: 'a' },
      { key: 'limits.perRepo', value: 99 },
    ]
    expect(asked).toEqual([[checkout, values]])
    expect(await source().readRestricted(checkout)).toEqual(values)
    const broken = async () => Promise.reject(new Error('no records'))
    expect(await found('hooks.preRun', { isTrusted: broken, findOwner: broken })).toMatchObject({ value: '' })
  })

  test('limits and policy may become stricter, not looser', async () => {
    writeFileSync(
      repoFile,
      'limits: { perRepo: 11, concurrent: 3, timeMinutes: 5 }\npolicy: { level: strict }',
    )
    const { limits, policy } = await read()
    expect({ limits, level: policy.level }).toEqual({
      limits: { perRepo: 10, concurrent: 3, global: 20, perAgent: 0, timeMinutes: 5, turns: 0 },
      level: 'strict',
    })
  })

  test('what it denies stays denied, and flags replace the lists of the settings', async () => {
    writeFileSync(repoFile, 'policy: { denied: [WebFetch], allowed: [Bash] }')
    writeFileSync(userFile, 'policy: { denied: [Edit], allowed: [Read] }')
    expect((await read()).policy).toMatchObject({ denied: ['WebFetch', 'Edit'], allowed: ['Read'] })
    expect((await found('policy.denied'))?.origin).toBe(`${repoFile}, ${userFile}`)
    const flags = { policy: { allowed: ['Glob'], denied: ['Bash'] } }
    expect((await source(trusting).read(checkout, flags)).policy).toMatchObject({
      denied: ['WebFetch', 'Bash'],
      allowed: ['Glob'],
    })
  })

  test.each(['~/.vim/pack', '/etc', '../beside', '..', 'a/../../b', '~', '~/state', '~/state/vaults'])(
    'the base %j is out of bounds, trusted or not, with the way out',
    async (base) => {
      writeFileSync(repoFile, `workspace: { base: "${base}" }`)
      const error = await failure(trusting)
      expect(error).toMatchObject({ path: repoFile, data: { key: 'workspace.base', line: 1 } })
      expect(error.hint).toContain('OFFSHOOT_WORKSPACE_BASE')
    },
  )

  test.each(['', '.wt', 'a/../.wt', '.', '~/state/workspaces/mine', '~/repo/.wt'])(
    'the base %j is within bounds',
    async (base) => {
      writeFileSync(repoFile, `workspace: { base: "${base}" }`)
      expect((await read()).workspace.base).toBe(base)
    },
  )

  test.each(['https://evil.example/x', '../e.git', '.', 'a/b', 'host:path', '/e.git'])(
    'the remote %j is no name',
    async (remote) => {
      writeFileSync(repoFile, `pr: { remote: "${remote}" }`)
      const error = await failure(trusting)
      expect(error).toMatchObject({ data: { key: 'pr.remote' } })
      expect(error.hint).toContain('OFFSHOOT_PR_REMOTE')
      writeFileSync(repoFile, 'pr: { remote: fork-2 }')
      expect((await read()).pr.remote).toBe('fork-2')
    },
  )

  test('the file of the checkout that the records name counts, not that of a workspace', async () => {
    const workspace = join(root, 'workspace')
    mkdirSync(workspace)
    writeFileSync(join(workspace, '.offshoot.yaml'), 'branch: { name: "agents/{task}" }')
    writeFileSync(repoFile, 'branch: { name: "users/{task}" }')
    const settings = await source({ findOwner: async () => checkout }).read(workspace)
    expect(settings.branch.name).toBe('users/{task}')
  })
})

describe('I6: variables', () => {
  test.each([
    ['1', true],
    ['true', true],
    ['YES', true],
    ['0', false],
    ['false', false],
    ['No', false],
    ['', true],
  ])('OFFSHOOT_ENABLED=%s is %s', async (text, enabled) => {
    expect(await read({ env: { OFFSHOOT_ENABLED: text } })).toHaveProperty('enabled', enabled)
  })

  test('OFFSHOOT_DISABLED switches off, whatever else the environment says', async () => {
    const env = { OFFSHOOT_DISABLED: '1', OFFSHOOT_ENABLED: '1' }
    expect(await read({ env })).toHaveProperty('enabled', false)
    expect((await source({ env }).readWithOrigin(null))[0]?.origin).toBe('OFFSHOOT_DISABLED')
  })

  test('OFFSHOOT_DISABLED=0 does not switch on what a file switched off', async () => {
    writeFileSync(userFile, 'enabled: false')
    expect(await read({ env: { OFFSHOOT_DISABLED: '0' } })).toHaveProperty('enabled', false)
  })

  test.each(['ten', '1e1', '0x10', ' 5', '5 ', '1.5', '0', '10001', '-1'])(
    'a number is strict: %j',
    async (text) => {
      const { message } = await failure({ env: { OFFSHOOT_LIMITS_PER_REPO: text } })
      expect(message).toMatch(
        /^OFFSHOOT_LIMITS_PER_REPO: `limits.perRepo` must be a whole number from 1 to 10000; found /,
      )
    },
  )

  test('a wrong switch is told under its own name', async () => {
    const { message } = await failure({ env: { OFFSHOOT_DISABLED: 'constructor' } })
    expect(message).toBe("OFFSHOOT_DISABLED: `enabled` must be true or false; found 'constructor'.")
  })
})

describe('I6: what is wrong is told with file, line, key, expected and found', () => {
  test('a wrong value', async () => {
    const error = await failureOf('# mine\nlimits:\n  perRepo: many\n')
    expect(error.message).toBe(
      `${repoFile}:3:3: \`limits.perRepo\` must be a whole number from 1 to 10000; found 'many'.`,
    )
    expect(error.path).toBe(repoFile)
    expect(error.data).toEqual({ key: 'limits.perRepo', line: 3, column: 3 })
  })

  test('a wrong flag', async () => {
    const { message } = await failure({ flags: { limits: { perRepo: 0 } } })
    expect(message).toBe('flag: `limits.perRepo` must be a whole number from 1 to 10000; found 0.')
  })

  test('a value that is overruled must be right all the same', async () => {
    writeFileSync(repoFile, 'enabled: maybe')
    expect((await failure({ env: { OFFSHOOT_ENABLED: '1' } })).path).toBe(repoFile)
  })

  test.each([
    ['limits: { perrepo: 3 }', 'unknown key `limits.perrepo`; did you mean `limits.perRepo`?'],
    ['limit: { perRepo: 3 }', 'unknown key `limit`; did you mean `limits`?'],
    ['maxAgeDays: 3', 'unknown key `maxAgeDays`; did you mean `prune.maxAgeDays`?'],
    ['enabled.x: 3', 'unknown key `enabled.x`; did you mean `enabled`?'],
    ['zzzzzzzz: 3', 'unknown key `zzzzzzzz`.'],
    ['__proto__: { enabled: false }', 'unknown key `__proto__`.'],
    ['"\\e[2J": 3', "unknown key '\\x1B[2J'."],
    [
      'limits: 3',
      '`limits` must be a mapping of settings (limits.perRepo, limits.concurrent, limits.global, limits.perAgent, limits.timeMinutes, limits.turns); found 3.',
    ],
    [
      'limits: [3]',
      '`limits` must be a mapping of settings (limits.perRepo, limits.concurrent, limits.global, limits.perAgent, limits.timeMinutes, limits.turns); found [ 3 ].',
    ],
    ['enabled: { on: true }', '`enabled` must be true or false; found { on: true }.'],
    ['enabled:', '`enabled` must be true or false; found null.'],
    ['enabled: &a [*a]', '`enabled` must be true or false; found <ref *1> [ [Circular *1] ].'],
  ])('%s', async (yaml, problem) => {
    const { message } = await failureOf(yaml)
    expect(message.slice(`${repoFile}:`.length)).toMatch(/^1:\d+: /)
    expect(message.replace(/^.*?:1:\d+: /, '')).toBe(problem)
  })

  test.each([
    ['enabled: true\nlimits: { perRepo: 3', 2, /not valid YAML/],
    ['enabled: true\nenabled: false', 2, /Map keys must be unique/],
    ['enabled: true\n---\nenabled: false', 2, /multiple documents/],
    ['enabled: true\nlimits: !odd 3', 2, /Unresolved tag/],
  ])('broken YAML has a line and a column: %j', async (yaml, line, problem) => {
    const error = await failureOf(yaml)
    expect(error.message).toMatch(problem)
    expect(error.message).toContain(`${repoFile}:${line}:`)
    expect(error.data).toEqual({ line, column: expect.any(Number) })
  })

  test('a key may be written out, but not set twice', async () => {
    writeFileSync(repoFile, 'limits.perRepo: 3')
    expect(await read()).toHaveProperty('limits.perRepo', 3)
    expect((await failureOf('limits.perRepo: 3\nlimits: { perRepo: 4 }')).message).toMatch(/is set twice/)
  })

  test('no settings at the root', async () => {
    expect((await failureOf('- enabled')).message).toMatch(/must be a mapping of settings; found a list/)
    expect((await failureOf('enabled')).message).toMatch(
      /must be a mapping of settings; found a single value/,
    )
  })

  test('aliases that multiply', async () => {
    const bomb = Array.from({ length: 9 }, (_, i) => `x${i + 1}: &x${i + 1} [${`*x${i},`.repeat(9)}]`)
    expect((await failureOf(['x0: &x0 [1]', ...bomb].join('\n'))).message).toMatch(/Excessive alias count/)
  })

  test('nesting without end', async () => {
    expect((await failureOf(`enabled: ${'['.repeat(100_000)}`)).path).toBe(repoFile)
  })

  test('not UTF-8, or too large', async () => {
    expect((await failureOf(Uint8Array.of(0x61, 0x3a, 0xff))).message).toBe(
      `${repoFile}: must be UTF-8 text.`,
    )
    expect((await failureOf(Buffer.alloc(1024 * 1024 + 1, '#'))).message).toMatch(
      /must be smaller than 1 MiB/,
    )
  })
})

describe('I6: files that are no files', () => {
  test('a folder', async () => {
    mkdirSync(userFile)
    expect((await failure()).message).toBe(`${userFile}: must be a file; found a folder.`)
  })

  test('a device, which would be read for ever', async () => {
    symlinkSync('/dev/zero', userFile)
    expect((await failure()).message).toBe(`${userFile}: must be a file; found a device.`)
  })

  test('a file that cannot be read', async () => {
    symlinkSync(userFile, userFile)
    const error = await failure()
    expect(error.message).toMatch(/cannot be read: ELOOP/)
    expect(error.path).toBe(userFile)
  })

  test('the repository’s file must not be a link that leads out; one inside, and the user’s own, may be', async () => {
    const outside = join(root, 'outside.yaml')
    writeFileSync(outside, 'enabled: false')
    symlinkSync(outside, userFile)
    writeFileSync(join(checkout, 'inside.yaml'), 'limits: { perRepo: 3 }')
    symlinkSync('inside.yaml', repoFile)
    expect(await read()).toMatchObject({ enabled: false, limits: { perRepo: 3 } })

    rmSync(repoFile)
    symlinkSync(outside, repoFile)
    expect((await failure()).message).toBe(`${repoFile}: is a link that leads out of the repository.`)
  })
})

describe('what is not needed is not loaded', () => {
  function loadedPackages(env: Record<string, string>): string[] {
    const script = `
      import { registerHooks } from 'node:module'
      const loaded = new Set()
      registerHooks({
        load(url, context, next) {
          const name = /node_modules\\/(yaml|zod)\\//.exec(url)?.[1]
          if (name) loaded.add(name)
          return next(url, context)
        },
      })
      const { settingsSource } = await import(${JSON.stringify(new URL('source.ts', import.meta.url).href)})
      const { userFile, checkout, env } = ${JSON.stringify({ userFile, checkout, env })}
      const findOwner = async (folder) => folder
      await settingsSource({ userFile, env, findOwner }).read(checkout)
      console.log(JSON.stringify([...loaded].sort()))
    `
    const args = ['--input-type=module', '--eval', script]
    return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as string[]
  }

  test('without files and variables neither zod nor yaml is', () => {
    expect(loadedPackages({ OFFSHOOT_HOME: root, PATH: '/bin' })).toEqual([])
  })

  test('a variable needs zod, a file both', () => {
    expect(loadedPackages({ OFFSHOOT_ENABLED: '1' })).toEqual(['zod'])
    writeFileSync(userFile, 'enabled: true')
    expect(loadedPackages({})).toEqual(['yaml', 'zod'])
  })
})
