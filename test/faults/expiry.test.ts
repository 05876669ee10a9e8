/** P2, R12: what was closed for long goes for good; stopped at any effect, the next prune goes on, and nothing else goes. */
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { openRepo } from '../../src/index.ts'
import { openAround } from '../support/open-around.ts'
import { withFault } from '../support/faults.ts'
import { quickFolder, testRepo } from '../support/repo.ts'
import { ownRefs } from '../support/workspace.ts'

const keepDays = { trash: { keepDays: 0 } }

/** One task that was given up and is to expire, and one that is open and worked in. */
async function twoClosed() {
  const repo = testRepo({ 'a.txt': 'one\n' }, quickFolder())
  const lib = openRepo(repo.dir, { env: repo.env })
  const paths: string[] = []
  for (const id of ['gone', 'open']) {
    const { task } = await lib.start({ task: id })
    writeFileSync(path.join(task.path, 'work.txt'), `work of ${id}\n`)
    await lib.checkpoint({ task: id })
    paths.push(task.path)
  }
  await lib.reject({ task: 'gone' })
  await lib.close()
  return { repo, open: paths[1] ?? '' }
}

test('stopped at any effect, an expiry is finished by the next prune', async () => {
  let hit = 0
  for (let at = 1; ; at++) {
    const { repo, open } = await twoClosed()
    const fault = withFault({ kind: 'eio', at, when: 'before', from: true })
    const faulty = openAround(repo.dir, { env: repo.env, flags: keepDays, around: fault.around })
    await faulty.prune().catch(() => {})
    await faulty.close()
    const lib = openRepo(repo.dir, { env: repo.env, flags: keepDays })
    const context = `at ${at} (${fault.points[at - 1]})`
    // What the mark of the expiry has not reached can still be undone, and what it has reached cannot.
    await lib.prune()
    const [operation] = await lib.ops()
    expect({ context, expired: operation?.expired }).toEqual({ context, expired: true })
    expect({ context, refs: ownRefs(repo).filter((ref) => ref.includes('/trash/')) }).toEqual({
      context,
      refs: [],
    })
    const trash = globSync(path.join(repo.home, 'state/workspaces/*/.trash/*'))
    expect({ context, trash }).toEqual({ context, trash: [] })
    const [vault = ''] = globSync(path.join(repo.home, 'state/vaults/*.git'))
    const objects = path.join(repo.dir, '.git/objects')
    execFileSync('git', ['--git-dir', vault, 'fsck', '--connectivity-only', '--no-dangling'], {
      env: { ...repo.env, GIT_ALTERNATE_OBJECT_DIRECTORIES: objects },
      stdio: 'pipe',
    })
    rmSync(open, { recursive: true })
    await lib.start({ task: 'open' })
    expect({ context, there: existsSync(path.join(open, 'work.txt')) }).toEqual({ context, there: true })
    await lib.close()
    if (!fault.hit) break
    hit += 1
  }
  expect(hit).toBeGreaterThan(8)
  console.log(`An expiry was stopped at ${hit} effects.`)
})
