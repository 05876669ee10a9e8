/** `npm run check:commits`: checks every commit message since the rule began, but for merges. */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { messageFaults } from './message.ts'

/** Commits up to this one are older than the rule. */
const firstBase = 'c3f0bbacf749bf2f3e4bdcf1009bd7040cc1ec08'

const { values } = parseArgs({ options: { base: { type: 'string', default: firstBase } } })

function git(...args: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 28 })
  return status === 0 ? stdout : undefined
}

function main(base: string): void {
  if (git('rev-parse', '--verify', '--quiet', 'HEAD^{commit}') === undefined)
    return say('No git history here: no commit was checked.')
  if (git('merge-base', '--is-ancestor', base, 'HEAD') === undefined)
    return say(`The history does not reach back to ${base}, as in a shallow clone: no commit was checked.`)
  const listed = git('log', '--no-merges', '-z', '--format=%h%n%B', `${base}..HEAD`)
  if (listed === undefined) throw new Error('git log failed.')
  const commits = listed.split('\0').filter((commit) => commit !== '')
  let bad = 0
  for (const commit of commits) {
    const at = commit.indexOf('\n')
    const message = commit.slice(at + 1)
    const faults = messageFaults(message)
    if (faults.length === 0) continue
    bad++
    process.exitCode = 1
    say(
      [`${commit.slice(0, at)} ${message.split('\n')[0]}`, ...faults.map((fault) => `  ${fault}`)].join('\n'),
    )
  }
  say(`${commits.length} commits checked, ${bad} against the rule of CONTRIBUTING.md`)
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

main(values.base)
