import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { makePicture } from '../../scripts/picture/picture.ts'

const file = path.resolve(import.meta.dirname, '../../docs/picture.svg')
const hasTerminal = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0

/** Ids of operations are drawn anew each time, and the run takes its time. */
const masked = (svg: string) =>
  svg
    .replaceAll(/offshoot undo [0-9a-z]{6}/g, 'offshoot undo ID')
    .replaceAll(/textLength="[\d.]+"([^>]*>[^<]*), \d+ s</g, '$1, TIME<')

test.skipIf(!hasTerminal)(
  'the picture of README shows what offshoot prints today: npm run docs:picture',
  () => {
    const drawn = readFileSync(file, 'utf8')
    expect(masked(drawn)).not.toBe(drawn)
    expect(masked(makePicture())).toBe(masked(drawn))
  },
)
