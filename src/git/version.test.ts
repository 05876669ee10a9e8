/** The installed git's version: read once, noted, and refused if too old. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { tempFolder } from '../../test/support/repo.ts'
import { gitExec } from './exec.ts'
import { isRecent, requireVersion } from './version.ts'

describe('isRecent', () => {
  test.each([
    ['2.38', true],
    ['2.38.0', true],
    ['2.39.5', true],
    ['2.100.1', true],
    ['3.0', true],
    ['2.37.9', false],
    ['2.4.11', false],
    ['1.99', false],
    ['', false],
  ])('S4: %s: %s', (version, recent) => expect(isRecent(version)).toBe(recent))
})

/** A git program that prints this version, and counts its calls. */
function machine(version: string) {
  const folder = tempFolder()
  const install = (said: string) =>
    writeFileSync(path.join(folder, 'git'), `#!/bin/sh\necho 'git version ${said}'\n`, { mode: 0o755 })
  install(version)
  const notes = new Map<string, string>()
  let asked = 0
  const env = { PATH: `${folder}:/usr/bin:/bin` }
  const exec = gitExec({ env, recordChild: () => () => {} })
  const counting: typeof exec = (call) => {
    asked++
    return exec(call)
  }
  const port = {
    find: async (key: string) => notes.get(key),
    put: async (key: string, value: string) => void notes.set(key, value),
  }
  return {
    install,
    notes,
    asked: () => asked,
    require: (store = port) => requireVersion(counting, store, env),
  }
}

describe('requireVersion', () => {
  test('S4: git is asked once, and again when it was replaced', async () => {
    const git = machine('2.39.5 (Apple Git-154)')
    expect(await git.require()).toBe('2.39.5')
    expect(await git.require()).toBe('2.39.5')
    expect(git.asked()).toBe(1)
    git.install('2.50.1.windows.1')
    expect(await git.require()).toBe('2.50.1')
    expect(git.asked()).toBe(2)
  })

  test('S4: one that is too old is named with its version, and not noted', async () => {
    const git = machine('2.20.1')
    await expect(git.require()).rejects.toMatchObject({
      code: 'WT_015',
      message: 'git 2.20.1 is too old; offshoot needs 2.38 or newer.',
    })
    expect(git.notes.size).toBe(0)
  })

  test('S4: one that answers nonsense is broken', async () => {
    await expect(machine('of another kind').require()).rejects.toMatchObject({ code: 'WT_015' })
  })

  test('S4: notes that cannot be read or kept cost only another question', async () => {
    const git = machine('2.40.0')
    const broken = async () => {
      throw new Error('disk full')
    }
    expect(await git.require({ find: broken, put: broken })).toBe('2.40.0')
  })

  test('S4: no git on PATH is told as such', async () => {
    const exec = gitExec({ env: {}, recordChild: () => () => {} })
    const notes = { find: async () => undefined, put: async () => {} }
    await expect(requireVersion(exec, notes, { PATH: tempFolder() })).rejects.toMatchObject({
      code: 'WT_015',
      message: 'git is not installed, or not on PATH.',
    })
  })
})
