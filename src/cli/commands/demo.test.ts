import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../test/support/repo.ts'
import { isOnlyInNpx } from './demo.ts'

test('I5: the user has the program only through npx where npx runs it and no other folder of PATH has it', () => {
  const folder = tempFolder()
  const put = (name: string) => {
    const bin = path.join(folder, name)
    mkdirSync(bin, { recursive: true })
    writeFileSync(path.join(bin, 'offshoot'), '#!/bin/sh\n', { mode: 0o755 })
    return bin
  }
  const cache = put('.npm/_npx/0123456789abcdef/node_modules/.bin')
  const installed = put('bin')
  const npx = { npm_command: 'exec' }
  expect(isOnlyInNpx({ ...npx, PATH: `${cache}:/usr/bin` })).toBe(true)
  expect(isOnlyInNpx({ ...npx, PATH: `${cache}:${installed}` })).toBe(false)
  expect(isOnlyInNpx({ PATH: '/usr/bin' })).toBe(false)
})
