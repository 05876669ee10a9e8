/** Objects read through one long-lived git. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { testRepo } from '../../test/support/repo.ts'
import { type GitPipe, gitPipe, type OpenPipe } from './exec.ts'
import { objectReader } from './reader.ts'

/** A repository with one file, its reader, and the processes that it started. */
function readerOf(env: NodeJS.ProcessEnv = process.env) {
  const repo = testRepo({ 'a.txt': 'one\n' })
  const pipes: OpenPipe[] = []
  const open: GitPipe = (call) => {
    const pipe = gitPipe({ env })(call)
    pipes.push(pipe)
    return pipe
  }
  const reader = objectReader(open, { gitDir: `${repo.dir}/.git`, alternates: [] })
  onTestFinished(() => reader.close())
  return { reader, pipes, oid: repo.git('rev-parse', 'HEAD:a.txt').trim() }
}

const text = async (content: Promise<Buffer | undefined>) => (await content)?.toString()

describe('objectReader', () => {
  test('P2: many at once are answered in their order by one process, what is missing as well', async () => {
    const { reader, pipes, oid } = readerOf()
    const asked = [reader.read(oid), reader.readSize(oid), reader.read('0'.repeat(40)), reader.read(oid)]
    const [first, size, missing, last] = await Promise.all(asked)
    expect([String(first), size, missing, String(last)]).toEqual(['one\n', 4, undefined, 'one\n'])
    expect(pipes).toHaveLength(1)
  })

  test('P2: what was asked before it is closed is answered, and so is what is asked after', async () => {
    const { reader, pipes, oid } = readerOf()
    const before = reader.read(oid)
    reader.close()
    const after = reader.read(oid)
    expect([await text(before), await text(after)]).toEqual(['one\n', 'one\n'])
    expect(pipes).toHaveLength(2)
  })

  test('P2: a process that ended by itself is followed by another one', async () => {
    const { reader, pipes, oid } = readerOf()
    expect(await text(reader.read(oid))).toBe('one\n')
    const ended = new Promise((resolve) => pipes[0]?.onEnd(resolve))
    pipes[0]?.close()
    const lost = reader.read(oid).catch((error) => error.message)
    await ended
    expect(await lost).toBe('git cat-file ended (0).')
    expect(await text(reader.read(oid))).toBe('one\n')
  })

  test('S4: a git that cannot be started is told to whoever asks', async () => {
    const { reader, oid } = readerOf({ PATH: '/nowhere' })
    await expect(reader.read(oid)).rejects.toMatchObject({ code: 'WT_015' })
    await expect(reader.readSize(oid)).rejects.toMatchObject({ code: 'WT_015' })
  })
})
