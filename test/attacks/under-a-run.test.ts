import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { offshoot, testRepo } from '../support/repo.ts'
import { play, withStandIn } from '../support/stand-in.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')

/** A repository with two tasks, and the agent of T1, who tries a command. */
async function tried(words: string, act = (command: string) => command) {
  const repo = withStandIn(testRepo())
  repo.write('mine.txt', 'not committed\n')
  await offshoot(repo, 'start', 'T2')
  const said = path.join(repo.home, 'said')
  const command = `'${process.execPath}' '${bin}' -C '${repo.dir}' ${words}`
  const prompt = play({ write: 'work.txt' }, { sh: `${act(command)} > '${said}' 2>&1; echo $? >> '${said}'` })
  const ran = await offshoot(repo, 'run', '--task', 'T1', '--json', prompt)
  return { repo, ran, said: readFileSync(said, 'utf8') }
}

describe('H8: during its run an agent may do only what the table allows', () => {
  test.each([
    'start hijack --isolation branch',
    'start other',
    'rewind T2 --to 0',
    'stop T2',
    'run --task T3 --policy permissive "anything"',
    'exec T2 -- touch x',
    'repair --rebuild',
    'pool --clear',
    'update T2',
    'recover',
    'checkpoint T2',
    'show T2',
    'diff T2',
    'log T2',
    'accept T1 --dry-run',
    'compare T1 T2',
    'prune --dry-run',
    'trust --show',
  ])('H8: an agent of T1 is refused: %s', async (words) => {
    const { repo, said } = await tried(words)
    expect(said).toMatch(/WT_017[\s\S]*\n5\n$/)
    expect(readFileSync(path.join(repo.dir, 'mine.txt'), 'utf8')).toBe('not committed\n')
    expect(repo.git('branch', '--show-current').trim()).toBe('main')
  })

  test.each(['list', 'show T1', 'log T1', 'diff T1', 'checkpoint T1', 'config', 'doctor'])(
    'H8: an agent of T1 may: %s',
    async (words) => {
      expect((await tried(words)).said).toMatch(/\n0\n$/)
    },
  )
})

describe('H8: a short name gives an agent no more rights', () => {
  const inside = (command: string) => command.replace(/ -C '[^']*'/, '')

  test.each(['show -', 'diff -', 'checkpoint -', 'accept @', 'reject T2', 'exec @ -- touch x', 'start -'])(
    'H8: in its workspace an agent of T1 is refused: %s',
    async (words) => {
      expect((await tried(words, inside)).said).toMatch(/WT_017[\s\S]*\n5\n$/)
    },
  )

  test.each(['show @', 'log @', 'checkpoint @'])('H8: and may: %s', async (words) => {
    expect((await tried(words, inside)).said).toMatch(/\n0\n$/)
  })

  test('H8: the refusal names the task, so that the user does not run it for another', async () => {
    expect((await tried('accept -', inside)).said).toMatch(/Only they can run: offshoot accept T2\n/)
  })
})

test('H8: the refusal names the task that the agent asked for', async () => {
  const { said } = await tried('reject T2')
  expect(said).toMatch(/Only they can run: offshoot reject T2\n/)
})

const hasGroups =
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  / - cgroup2 /.test(readFileSync('/proc/self/mountinfo', 'utf8'))
const skipped = 'needs version 2 of control groups, mounted and writable (root)'

describe.skipIf(!hasGroups)(`H8: cleared and re-parented${hasGroups ? '' : ` (${skipped})`}`, () => {
  const apart = (command: string) => `setsid env -i HOME="$HOME" PATH="$PATH" sh -c '${command}' &`

  test('H8: a process without mark, session and parent is ended with the run', async () => {
    const repo = withStandIn(testRepo())
    const late = path.join(repo.home, 'late')
    const prompt = play({ write: 'work.txt' }, { sh: `${apart(`(sleep 30; touch "${late}") &`)} sleep 0.5` })
    await offshoot(repo, 'run', '--task', 'T1', '--json', prompt)
    expect(processesWith(late)).toEqual([])
    expect(existsSync(late)).toBe(false)
  })

  test('H8: while the run goes on, such a process is still the agent’s', async () => {
    const repo = withStandIn(testRepo())
    const said = path.join(repo.home, 'said')
    const command = `"${process.execPath}" "${bin}" -C "${repo.dir}" trust > "${said}" 2>&1; echo $? >> "${said}"`
    const prompt = play({ write: 'work.txt' }, { sh: `${apart(`(sleep 0.3; ${command}) &`)} sleep 4` })
    await offshoot(repo, 'run', '--task', 'T1', '--json', prompt)
    expect(readFileSync(said, 'utf8')).toMatch(/WT_017[\s\S]*\n5\n$/)
  })
})

/** The processes that have the text in their command line. */
function processesWith(text: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)
    } catch {
      return false
    }
  })
}
