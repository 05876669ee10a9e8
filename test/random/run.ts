/**
 * `npm run test:random`: the property tests of `npm test` and `npm run test:slow`, with a new seed. `--seed N` repeats a
 * run, `--runs N` plays N times as many cases, `--shrink` looks for the smallest case that fails.
 */
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(randomInt(1_000_000_000)) },
    runs: { type: 'string', default: '6' },
    shrink: { type: 'boolean', default: false },
  },
})
for (const name of ['seed', 'runs'] as const)
  if (!/^\d+$/.test(values[name])) throw new Error(`--${name} takes a number, and was given ${values[name]}.`)

const root = path.resolve(import.meta.dirname, '../..')
const files = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root }).filter((file) =>
  /\bfc\.(assert|asyncProperty)\(/.test(readFileSync(path.join(root, file), 'utf8')),
)
const repeat = [
  `npm run test:random -- --seed ${values.seed}`,
  ...(values.runs === '6' ? [] : [`--runs ${values.runs}`]),
].join(' ')
console.log(`Seed ${values.seed}, ${files.length} files. The same again: ${repeat}`)
const { status } = spawnSync('vitest', ['run', ...files], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    OFFSHOOT_TEST_SEED: values.seed,
    OFFSHOOT_TEST_RUNS: values.runs,
    ...(values.shrink && { OFFSHOOT_TEST_SHRINK: '1' }),
  },
})
console.log(`Seed ${values.seed}. The same again: ${repeat}`)
process.exitCode = status ?? 1
