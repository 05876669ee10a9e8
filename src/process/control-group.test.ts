/** Control groups of runs, in a folder that stands for the one of the kernel. */
import { existsSync, mkdirSync, readdirSync, utimesSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { tempFolder } from '../../test/support/repo.ts'
import { makeControlGroup, runOfGroup } from './control-group.ts'

const [one, other] = ['0123456789abcdefghij', 'klmnopqrstuv01234567']

describe('makeControlGroup', () => {
  test('L6: a group that is young stays, since its program may not have entered yet; an old one goes', () => {
    const parent = tempFolder()
    makeControlGroup(one, parent)
    makeControlGroup(other, parent)
    expect(readdirSync(parent).sort()).toEqual([`offshoot-${one}`, `offshoot-${other}`])
    utimesSync(path.join(parent, `offshoot-${one}`), 0, 0)
    makeControlGroup(other, parent)
    expect(readdirSync(parent)).toEqual([`offshoot-${other}`])
  })

  test('L6: a second command of a run enters the group of the first', () => {
    const parent = tempFolder()
    const first = makeControlGroup(one, parent)
    expect(makeControlGroup(one, parent)?.enter).toBe(first?.enter)
    first?.remove()
    expect(readdirSync(parent)).toEqual([])
  })

  test('L6: the groups of others stay, whatever their names begin with', () => {
    const parent = tempFolder()
    const others = path.join(parent, 'offshoot-service')
    mkdirSync(others)
    utimesSync(others, 0, 0)
    makeControlGroup(one, parent)
    expect(existsSync(others)).toBe(true)
  })

  test('L6: without control groups there is none', () => {
    expect(makeControlGroup(one, path.join(tempFolder(), 'none'))).toBeUndefined()
  })
})

describe('runOfGroup', () => {
  test.each([
    [`0::/user.slice/offshoot-${one}`, one],
    [`1:cpu:/x\n0::/offshoot-${one}/deeper`, one],
    ['0::/system.slice/offshoot-service', undefined],
    [`0::/offshoot-${one}0`, undefined],
    ['', undefined],
  ])('L6: %j is of the run %s', (text, run) => {
    expect(runOfGroup(text)).toBe(run)
  })
})
