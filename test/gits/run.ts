/** `npm run test:gits`: a selection of journeys with every git that this machine can offer, found by PATH. */
import { execFileSync, spawnSync } from 'node:child_process'
import path from 'node:path'
import { type BuiltGit, otherGits } from './debian.ts'

/** Whatever speaks to git in more than one way: worktrees, refs, merges, conversions, hooks, clones. */
const selection = [
  'src/git',
  'test/journeys/accept.test.ts',
  'test/journeys/accept-hooks.test.ts',
  'test/journeys/accept-scenarios.test.ts',
  'test/journeys/step-converted.test.ts',
  'test/journeys/clone.test.ts',
  'test/journeys/landed-by-hand.test.ts',
  'test/journeys/publish.test.ts',
  'test/journeys/remove.test.ts',
  'test/journeys/shadow-branch.test.ts',
  'test/journeys/start-repos.test.ts',
  'test/journeys/start-settings.test.ts',
  'test/journeys/verbs-through-git.test.ts',
]
/** And what an agent plants for git to run: newer ones look for it in more places. */
const planted = ['test/faults/corpus.test.ts', '-t', 'plants']

function versionOf(PATH: string | undefined): string {
  return execFileSync('git', ['--version'], { encoding: 'utf8', env: { ...process.env, PATH } }).trim()
}

/** Whether all went well. */
function play({ bin }: Pick<BuiltGit, 'bin'>, more: readonly string[]): boolean {
  const PATH = `${bin}${path.delimiter}${process.env.PATH}`
  console.log(`\n${versionOf(PATH)}`)
  const vitest = path.resolve(import.meta.dirname, '../../node_modules/vitest/vitest.mjs')
  const runs = more.length > 0 ? [more] : [selection, planted]
  const statuses = runs.map((args) => {
    const words = [vitest, 'run', '--reporter=dot', ...args]
    return spawnSync(process.execPath, words, { env: { ...process.env, PATH }, stdio: 'inherit' }).status
  })
  return statuses.every((status) => status === 0)
}

const own = versionOf(process.env.PATH)
const others = otherGits(console.log).filter(({ version }) => !own.endsWith(` ${version}`))
if (others.length === 0)
  console.log(`There is no other git than ${own}, which npm test uses: nothing is tried.`)
const results = others.map((git) => ({ version: git.version, passed: play(git, process.argv.slice(2)) }))
for (const { version, passed } of results) console.log(`git ${version}: ${passed ? 'passed' : 'FAILED'}`)
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1
