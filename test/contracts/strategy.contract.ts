import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { compose } from '../../src/compose/full.ts'
import { type AcceptInput, acceptBy } from '../../src/core/verbs/accept.ts'
import type { LandingStrategy } from '../../src/core/landing/strategy.ts'
import { recover } from '../../src/core/recovery/reconcile.ts'
import { type LandingOption, landingOptions } from '../../src/core/model/strategies.ts'
import { isOpen } from '../../src/core/model/task.ts'
import { undo } from '../../src/core/verbs/undo.ts'
import { type Fingerprint, fingerprint } from '../support/fingerprint.ts'
import { quickFolder, testRepo } from '../support/repo.ts'
import { readFolder } from '../support/vault.ts'
import { library, withEnv } from '../support/workspace.ts'
import { allStrategies } from './strategy.list.ts'

const lander = fileURLToPath(new URL('./strategy.lander.ts', import.meta.url))

/** What each option is asked for with. */
const asking: Record<LandingOption, Partial<AcceptInput<string>>> = {
  part: { only: ['a.txt'] },
  onto: { onto: 'release' },
  message: { message: 'Land it' },
  conflicts: { conflicts: 'markers' },
  keep: { keep: true },
  hooks: { hooks: true },
}

/** What the task T1 has done, and a user who has something uncommitted, staged and untracked of their own. */
async function working() {
  const folder = quickFolder()
  const bin = path.join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(path.join(bin, 'gh'), '#!/bin/sh\necho https://example.com/pull/7\n', { mode: 0o755 })
  const files = { 'a.txt': 'one\n', 'old.txt': 'old\n', 'mine.txt': 'mine\n', 'staged.txt': 'staged\n' }
  const made = testRepo(files, folder)
  const user = withEnv(made, { PATH: `${bin}:${made.env.PATH}` })
  const bare = path.join(folder, 'remote.git')
  execFileSync('git', ['init', '--quiet', '--bare', bare], { env: user.env })
  user.git('remote', 'add', 'origin', bare)
  user.git('branch', 'release')
  const { task } = await library(user).start({ task: 'T1', title: 'Do the work' })
  writeFileSync(path.join(task.path, 'a.txt'), 'ONE\n')
  await library(user).checkpoint({ task: 'T1', tool: 'Edit', summary: 'Shout' })
  mkdirSync(path.join(task.path, 'new'))
  writeFileSync(path.join(task.path, 'new/file.txt'), 'new\n')
  rmSync(path.join(task.path, 'old.txt'))
  await library(user).checkpoint({ task: 'T1', tool: 'Write', summary: 'Add and delete' })
  user.write('mine.txt', 'mine, changed\n')
  user.write('staged.txt', 'staged, changed\n')
  user.git('add', 'staged.txt')
  user.write('loose.txt', 'loose\n')
  const ports = compose({ env: user.env, background: false })
  onTestFinished(() => ports.close())
  const remotely = () => execFileSync('git', ['for-each-ref'], { cwd: bare, encoding: 'utf8' })
  return {
    user,
    ports,
    accept: (as: string, input: Partial<AcceptInput<string>> = {}) =>
      acceptBy(allStrategies, ports, { dir: user.dir, task: 'T1', as, ...input }),
    undo: (operation: string | undefined) => undo(ports, { dir: user.dir, operation }),
    task: async () => {
      const [found] = (await ports.store.readTasks({})).filter(({ id }) => id === 'T1')
      if (!found) throw new Error('There is no task T1.')
      return found
    },
    /** All that is the user's, here and on the remote, and the work itself. */
    everything: (): Fingerprint => ({
      ...fingerprint(user),
      entries: user.git('ls-files', '--stage'),
      remote: remotely(),
      workspace: existsSync(task.path) ? JSON.stringify(readFolder(task.path)) : 'gone',
    }),
    /** What lands, without the ids that depend on the time. */
    content: () => ({
      files: readFolder(user.dir),
      index: user.git('ls-files', '--stage'),
      head: user.git('rev-parse', 'HEAD^{tree}'),
      status: user.git('status', '--porcelain'),
    }),
  }
}

type World = Awaited<ReturnType<typeof working>>

/** The files that came with it, as git tells them apart. */
async function landedFiles(
  { user, task }: World,
  { lands }: LandingStrategy,
  before: string,
): Promise<string[]> {
  const named = (...range: string[]) =>
    user
      .git('diff', '--no-renames', '--name-status', ...range)
      .split('\n')
      .filter(Boolean)
  if (lands === 'commit') return named(before, 'HEAD')
  if (lands === 'branch') return named(before, (await task()).branch)
  user.git('add', '--intent-to-add', 'new')
  return named().filter((line) => !line.endsWith('\tmine.txt'))
}

/** In an index that was written again the times of files differ; its entries are compared. */
function withoutTimes(all: Fingerprint): Fingerprint {
  return Object.fromEntries(Object.entries(all).filter(([name]) => name !== 'git/index'))
}

const marks = { added: 'A', modified: 'M', deleted: 'D' }

/** What every strategy must do. */
export function strategyContract(strategy: LandingStrategy): void {
  const { name, lands, takes, final } = strategy

  describe(`${name} as a strategy`, () => {
    let known: ReturnType<World['content']> | undefined
    /** What there is when all of it has landed at once, and nothing went wrong. */
    const whole = async () => {
      if (known) return known
      const { accept, content } = await working()
      await accept(name)
      return (known = content())
    }

    test('a dry run writes nothing, and what it tells is what lands beside the changes of the user', async () => {
      const world = await working()
      const [before, head] = [world.everything(), world.user.git('rev-parse', 'HEAD').trim()]
      const { preview, operation } = await world.accept(name, { dryRun: true })
      expect(operation).toBeUndefined()
      expect(world.everything()).toEqual(before)
      expect(preview).toMatchObject({ clean: true, conflicts: [], refused: [] })
      const accepted = await world.accept(name)
      // Only a dry run looks at what the other tasks meet afterwards.
      const { afterwards: _, ...landing } = preview
      expect(accepted).toMatchObject({ as: name, preview: landing })
      expect(isOpen(accepted.task)).toBe(false)
      const told = preview.files.map(({ path: file, status }) => `${marks[status]}\t${file}`)
      expect(await landedFiles(world, strategy, head)).toEqual(told)
      const after = world.everything()
      for (const file of ['mine.txt', 'staged.txt', 'loose.txt'])
        expect(after[`checkout/${file}`]).toBe(before[`checkout/${file}`])
      expect(world.user.git('diff', '--cached', '--name-only')).toBe('staged.txt\n')
    })

    test.runIf(lands !== 'branch')(
      'a conflict is WT_011, is told by a dry run, and writes nothing',
      async () => {
        const { user, accept, everything } = await working()
        user.git('stash', '--quiet')
        user.write('a.txt', 'other\n')
        user.git('commit', '--quiet', '--message=Other', 'a.txt')
        user.git('stash', 'pop', '--quiet', '--index')
        const before = everything()
        const { preview } = await accept(name, { dryRun: true })
        expect(preview).toMatchObject({ clean: false })
        expect(preview.conflicts.length).toBeGreaterThan(0)
        const { conflicts } = preview
        await expect(accept(name)).rejects.toMatchObject({ code: 'WT_011', data: { conflicts } })
        expect(everything()).toEqual(before)
      },
    )

    test('undo brings files, index, refs and the task back; what has reached others stays', async () => {
      const { accept, undo: takeBack, everything, task } = await working()
      const before = everything()
      const { operation } = await accept(name)
      if (final !== undefined) {
        const after = task()
        await expect(takeBack(operation)).rejects.toMatchObject({ code: 'WT_017' })
        return expect(task()).toEqual(after)
      }
      await takeBack(operation)
      expect(withoutTimes(everything())).toEqual(withoutTimes(before))
      expect(isOpen(await task())).toBe(true)
      // And again, as if nothing had been.
      const again = await accept(name)
      await takeBack(again.operation)
      expect(withoutTimes(everything())).toEqual(withoutTimes(before))
    })

    test('it takes the options that it says; each of the others is a usage error, and writes nothing', async () => {
      const { accept, everything } = await working()
      const before = everything()
      for (const option of landingOptions) {
        const input = asking[option]
        if (takes.includes(option)) await accept(name, { ...input, dryRun: true })
        else await expect(accept(name, input), option).rejects.toMatchObject({ code: 'WT_019' })
        expect(everything()).toEqual(before)
      }
    })

    test.runIf(takes.includes('part'))(
      'a part keeps the task open, and the rest lands after it',
      async () => {
        const { accept, content, task } = await working()
        const first = await accept(name, { only: ['a.txt'] })
        expect(first.preview.files.map((file) => file.path)).toEqual(['a.txt'])
        expect(isOpen(await task())).toBe(true)
        const second = await accept(name)
        expect(second.preview.files.map((file) => file.path)).toEqual(['new/file.txt', 'old.txt'])
        expect(isOpen(await task())).toBe(false)
        expect(content()).toEqual(await whole())
      },
    )

    test.runIf(takes.includes('keep'))('with keep all of it lands, and the task stays open', async () => {
      const { accept, content, task } = await working()
      await accept(name, { keep: true })
      expect(isOpen(await task())).toBe(true)
      expect(content()).toEqual(await whole())
    })

    test.each([
      ['operation.begun', true],
      ['operation.staged', false],
    ] as const)('killed at %s, recovery makes it whole or undone', async (event, isTakenBack) => {
      const { user, ports, accept, everything, content, task } = await working()
      const before = everything()
      const args = [lander, user.dir, name, event]
      const died = spawnSync(process.execPath, args, {
        env: user.env,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      expect(died.signal).toBe('SIGKILL')
      expect((await task()).pending).toBeDefined()
      await recover(ports)
      expect((await task()).pending).toBeUndefined()
      expect(isOpen(await task())).toBe(isTakenBack)
      if (isTakenBack) {
        const { remote, ...here } = before
        expect(everything()).toMatchObject(final === undefined ? { remote, ...here } : here)
        await accept(name)
      }
      expect(content()).toEqual(await whole())
    })
  })
}
