/** What is opened in the folder for temporary files, which everybody may write (C1). */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { quickFolder, tempFolder, testRepo } from '../support/repo.ts'
import { withEnv } from '../support/workspace.ts'

const missing = spawnSync('strace', ['-V']).status !== 0
if (missing) console.log('What is opened in the temporary folder is not watched: strace is not installed.')

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
const calls = 'trace=open,openat,openat2,execve,mkdir,mkdirat,rename,renameat,renameat2,connect'

/** The paths below `folder` that were opened, run or connected to, and were not made before by one of the processes. */
function foreignIn(trace: string, folder: string): string[] {
  const made: string[] = []
  const found: string[] = []
  for (const line of trace.split('\n')) {
    const paths = Array.from(line.matchAll(/"((?:[^"\\]|\\.)*)"/g), ([, text = '']) => text)
    const below = paths.filter((file) => file.startsWith(`${folder}/`))
    const isMaking = /\bmkdir(at)?\(|O_EXCL/.test(line) && !/= -1/.test(line)
    if (isMaking) made.push(...below)
    else
      found.push(...below.filter((file) => !made.some((own) => file === own || file.startsWith(`${own}/`))))
  }
  return found
}

test.skipIf(missing)(
  'S7, C1: no verb opens a file in the temporary folder that it has not made',
  async () => {
    // The repository and the state folder are elsewhere, so that all that is below the shared folder is temporary.
    const home = quickFolder()
    const shared = path.join(tempFolder(), 'shared')
    mkdirSync(shared)
    chmodSync(shared, 0o1777)
    const plain = testRepo({ 'a.txt': 'one\n' }, home)
    const repo = withEnv(plain, { TMPDIR: shared, HOME: home })
    const log = path.join(home, 'trace')
    const verbs = [
      ['start', 't'],
      ['exec', 't', '--', '/bin/sh', '-c', 'echo two > a.txt'],
      ['checkpoint', 't'],
      ['accept', 't'],
      ['undo'],
      ['list'],
    ]
    for (const [n, args] of verbs.entries()) {
      const traced = spawnSync(
        'strace',
        ['-f', '-qq', '-s', '4096', '-e', calls, '-o', log, process.execPath, bin, ...args],
        {
          cwd: repo.dir,
          env: repo.env,
          encoding: 'utf8',
        },
      )
      expect([args[0], traced.status, traced.stderr]).toEqual([args[0], 0, expect.anything()])
      const trace = readFileSync(log, 'utf8')
      expect(trace.split('\n').length).toBeGreaterThan(n === 0 ? 100 : 10)
      expect(foreignIn(trace, shared)).toEqual([])
    }
  },
)

test('S7, C1: the watch itself notices a file that others made', () => {
  const trace = `1 mkdir("/t/a", 0700) = 0\n1 openat(AT_FDCWD, "/t/a/b", O_RDONLY) = 3\n1 openat(AT_FDCWD, "/t/c/d", O_RDONLY) = -1 ENOENT`
  expect(foreignIn(trace, '/t')).toEqual(['/t/c/d'])
})
