import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { withScreens } from '../../scripts/screens/screens.ts'
import { noTerminal } from '../support/terminal.ts'

const file = path.resolve(import.meta.dirname, '../../docs/watch.md')

/** Ages depend on how fast the machine is; their column is as wide as ever. */
const masked = (document: string) => document.replaceAll(/ (?:now|[ \d]\d[sm])$/gm, ' AGE')

test.skipIf(noTerminal)(
  'W1: the screens of docs/watch.md are what watch shows today: npm run docs:screens',
  async () => {
    const kept = readFileSync(file, 'utf8')
    expect(masked(kept)).not.toBe(kept)
    expect(masked(await withScreens(kept))).toBe(masked(kept))
  },
)
