/** S3: an accept of 30,000 files is cancelled within a second until it writes, however it is told to end. */
import { spawn } from 'node:child_process'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Told } from '../../src/index.ts'
import { fingerprint } from '../support/fingerprint.ts'
import { changedByTask } from '../support/many-files.ts'
import { offshoot, type TestRepo } from '../support/repo.ts'
import { atTerminal, noTerminal } from '../support/terminal.ts'
import { library } from '../support/workspace.ts'

const files = 30_000
const waitMs = 300_000

/** The accept, in a process of its own, and how far it says that it is. */
function accepting(repo: TestRepo, onPhase: (phase: string, kill: (signal: NodeJS.Signals) => void) => void) {
  const { NODE_OPTIONS: _, ...env } = repo.env
  const script = `
    import { openRepo } from '${path.resolve(import.meta.dirname, '../../dist/index.js')}'
    const cancel = new AbortController()
    process.on('SIGINT', () => cancel.abort())
    const repo = openRepo(process.cwd())
    const onEvent = ({ event, phase }) => process.stdout.write((phase ?? event) + '\\n')
    const ended = await repo.accept({ task: 'T1' }, { signal: cancel.signal, onEvent }).then(() => 'landed', ({ code }) => code)
    process.stdout.write(ended + '\\n')
    await repo.close()`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { cwd: repo.dir, env })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said: string[] = []
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    for (const word of text.trim().split('\n')) {
      if (!said.includes(word)) onPhase(word, (signal) => void child.kill(signal))
      said.push(word)
    }
  })
  return new Promise<string[]>((resolve) => child.on('close', () => resolve(said)))
}

describe('S3: an accept of 30,000 files', () => {
  test('S3: that is cancelled, or killed, in any phase before it writes leaves everything as it was; later it is finished', async () => {
    // To read files that a step holds takes less than a second, and nothing is told of it.
    const repo = await changedByTask(files, { unread: true })
    const before = fingerprint(repo)
    for (const phase of ['reading', 'checking', 'staging']) {
      let at = 0
      const said = await accepting(repo, (told, kill) => {
        if (told === phase) {
          at = performance.now()
          kill('SIGINT')
        }
        if (told === 'WT_021') at = performance.now() - at
      })
      expect([phase, said.at(-1)]).toEqual([phase, 'WT_021'])
      expect(at).toBeLessThan(1000)
      expect(fingerprint(repo)).toEqual(before)
    }

    await accepting(repo, (told, kill) => told === 'staging' && kill('SIGKILL'))
    await offshoot(repo, 'recover')
    expect(fingerprint(repo)).toEqual(before)
    expect(await library(repo).show('T1')).toMatchObject({ state: 'active' })

    const late = await accepting(repo, (told, kill) => told === 'writing' && kill('SIGINT'))
    expect(late.filter((word) => word === 'finishing')).toEqual(['finishing'])
    expect(late.at(-1)).toBe('landed')
    await offshoot(repo, 'undo')
    expect(fingerprint(repo)).toEqual(before)

    await accepting(repo, (told, kill) => told === 'writing' && kill('SIGKILL'))
    await offshoot(repo, 'recover')
    expect(repo.git('status', '--porcelain').split('\n')).toHaveLength(files + 1)
  })

  test.skipIf(noTerminal)('S3: Ctrl-C at a terminal does the same, and is answered in one line', async () => {
    const repo = await changedByTask(files)
    const before = fingerprint(repo)
    const cancelled = await atTerminal(
      repo,
      ['accept', 'T1'],
      [{ after: 'Staging files: ', type: '\u0003' }],
      { waitMs },
    )
    expect(cancelled).toContain('error WT_021: Cancelled.\n  hint: Nothing partial was left.')
    expect(fingerprint(repo)).toEqual(before)
    const finished = await atTerminal(
      repo,
      ['accept', 'T1'],
      [{ after: 'Writing files: ', type: '\u0003' }],
      { waitMs },
    )
    expect(finished).toContain('too late to cancel accept: finishing\n')
    expect(finished).toContain(`Accepted T1 as patch: ${files} files`)
    const undone: Told[] = []
    await library(repo).undo(undefined, { onEvent: (told) => void undone.push(told) })
    expect(undone.some((told) => told.event === 'progress' && told.phase === 'writing')).toBe(true)
    expect(fingerprint(repo)).toEqual(before)
  })
})
