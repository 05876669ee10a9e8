import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { fc } from '../../../test/support/random.ts'
import {
  baseFolder,
  fromTemplate,
  repoName,
  requireBranchName,
  requireInside,
  requireTaskId,
  taskIdFrom,
} from './names.ts'

const codeOf = (work: () => unknown): string | undefined => {
  try {
    work()
    return undefined
  } catch (error) {
    return (error as { code: string }).code
  }
}

/** Names that are likely to be nearly right. */
const madeOf = (parts: string[]) =>
  fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 8 }).map((all) => all.join(''))

const gitAccepts = (ref: string) => spawnSync('git', ['check-ref-format', ref]).status === 0

describe('requireTaskId', () => {
  test.each(['T1', 'TASK-123', 'a', '0', 'a.b_c-d', 'x'.repeat(64), 'con1', 'console', 'HEAD', 'main'])(
    'S1: %s will do',
    (id) => expect(requireTaskId(id)).toBe(id),
  )

  test.each(['..', '../a', 'a/b', 'a\\b', '/', 'a..b', '..\\..'])(
    'S1: %s would leave the base: WT_006',
    (id) => {
      expect(codeOf(() => requireTaskId(id))).toBe('WT_006')
    },
  )

  test.each([
    ['nothing', ''],
    ['a leading dash', '-a'],
    ['the short name of the last task', '-'],
    ['the short name of the task here', '@'],
    ['a leading dot', '.a'],
    ['a dot at the end', 'a.'],
    ['.lock at the end', 'a.lock'],
    ['.LOCK at the end', 'a.LOCK'],
    ['a space', 'a b'],
    ['a line feed at the end', 'a\n'],
    ['a control character', 'a\u0007'],
    ['a letter beyond ASCII', 'ä'],
    ['65 characters', 'x'.repeat(65)],
    ['a device of Windows', 'PRN'],
    ['a device of Windows with an ending', 'com3.log'],
    ['a shell’s character', 'a;b'],
  ])('S1: %s is wrong usage', (_, id) => expect(codeOf(() => requireTaskId(id))).toBe('WT_019'))

  test('S1: the refusal shows the id without its control characters, and not all of a long one', () => {
    const shown = (id: string) => {
      try {
        requireTaskId(id)
      } catch (error) {
        return (error as Error).message
      }
      throw new Error('not refused')
    }
    expect(shown('\u001b[31mä\u202e')).toContain('"\\u001b[31m\\u{e4}\\u{202e}"')
    expect(shown('x'.repeat(10_000)).length).toBeLessThan(200)
  })

  test('S1: git takes the branch of every id that is accepted', () => {
    const id = fc.oneof(
      fc.string({ maxLength: 70, unit: 'binary' }),
      madeOf('a Z 0 . - _ .lock .. / \\ ~ ^ @{ nul com1 é'.split(' ')),
    )
    fc.assert(
      fc.property(id, (id) => {
        fc.pre(codeOf(() => requireTaskId(id)) === undefined)
        expect(gitAccepts(`refs/heads/offshoot/${id}`)).toBe(true)
        expect(codeOf(() => requireBranchName(`offshoot/${id}`))).toBeUndefined()
        expect(codeOf(() => requireInside('/base', id))).toBeUndefined()
      }),
      { numRuns: 150 },
    )
  })
})

describe('requireBranchName', () => {
  test.each(['main', 'feature/x', 'größer/日本', 'a@b', 'a-b/-c', `it's`, 'x'.repeat(200)])(
    'S1: %s will do',
    (name) => {
      expect(requireBranchName(name)).toBe(name)
      expect(gitAccepts(`refs/heads/${name}`)).toBe(true)
    },
  )

  test('S1: git takes every name that is accepted', () => {
    const odd = ['\n', '\u0007', '\u007f', '\u200b', '\u202e', '\ud800', ' ', 'é', '日']
    const plain = 'a B 9 / // . .. - @ @{ { } ~ ^ : ? * [ \\ .lock .LOCK HEAD refs/ con aux.x'.split(' ')
    const name = fc.oneof(fc.string({ unit: 'binary' }), madeOf([...plain, ...odd]))
    fc.assert(
      fc.property(name, (name) => {
        fc.pre(!name.includes('\0'))
        fc.pre(codeOf(() => requireBranchName(name)) === undefined)
        expect(gitAccepts(`refs/heads/${name}`)).toBe(true)
        expect(name.startsWith('-') || name === 'HEAD').toBe(false)
        expect(Buffer.from(name).toString()).toBe(name)
      }),
      { numRuns: 200 },
    )
  })
})

describe('names made from others', () => {
  test('L2: the id from a title is itself a good id', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (title) => {
        expect(requireTaskId(taskIdFrom(title, 'abcd0123456789vvvvvv'))).toMatch(/-abcd$/)
      }),
    )
    expect(taskIdFrom('Füge Login hinzu: jetzt, aber schnell bitte', 'abcd')).toBe(
      'fu-ge-login-hinzu-jetzt-abcd',
    )
    expect(taskIdFrom('', 'abcd')).toBe('task-abcd')
  })

  test('L3: a template is filled in, in UTC, and what it does not know stays', () => {
    const parts = {
      task: 'T1',
      uid: 'abcdefghijklmnopqrst',
      repo: 'app-1',
      now: new Date('2026-11-15T18:01:02.999Z'),
    }
    expect(fromTemplate('{task}-{date}-{time}', parts)).toBe('T1-20261115-180102')
    expect(fromTemplate('{repo}/{id8}/{other}{task}', parts)).toBe('app-1/abcdefgh/{other}T1')
    expect(fromTemplate('{task}', { ...parts, task: '$&{repo}' })).toBe('$&{repo}')
  })

  test('L4: the base is the state folder, or relative to the repository, or with ~ to the home', () => {
    const at = { home: '/state', repo: 'app-1', root: '/src/app', userHome: '/home/me' }
    expect(baseFolder('', at)).toBe('/state/workspaces/app-1')
    expect(baseFolder('.wt', at)).toBe('/src/app/.wt')
    expect(baseFolder('../wt/', at)).toBe('/src/wt')
    expect(baseFolder('/fast/wt', at)).toBe('/fast/wt')
    expect(baseFolder('~', at)).toBe('/home/me')
    expect(baseFolder('~/wt', at)).toBe('/home/me/wt')
    expect(baseFolder('~other/wt', at)).toBe('/src/app/~other/wt')
  })

  test.each(['..', '../x', 'a/b', '/etc', '.', ''])('S1: %j is not one step below the base', (name) => {
    expect(codeOf(() => requireInside('/base', name))).toBe('WT_006')
  })

  test('S1: a repository’s folder name is plain, whatever its path', () => {
    expect(repoName('/src/My App/.git', 'abcdefghijkl')).toBe('My-App-abcdefgh')
    expect(repoName('/src/bare.git', 'abcdefghijkl')).toBe('bare-abcdefgh')
    expect(repoName('/src/..odd/.git', 'abcdefghijkl')).toBe('odd-abcdefgh')
    expect(repoName('/src/日本/.git', 'abcdefghijkl')).toBe('repo-abcdefgh')
    expect(repoName('/.git', 'abcdefghijkl')).toBe('repo-abcdefgh')
  })
})
