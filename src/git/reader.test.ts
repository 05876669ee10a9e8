/** Objects read through one long-lived git. */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { testRepo } from '../../test/support/repo.ts'
import { type GitPipe, gitPipe, type OpenPipe } from './exec.ts'
import { objectReader } from './reader.ts'

/** A repository with one file, its reader, and the processes that it started. */
function readerOf(env: NodeJS.ProcessEnv = process.env, deadlineMs?: number) {
  const repo = testRepo({ 'a.txt': 'one\n' })
  const pipes: OpenPipe[] = []
  const open: GitPipe = (call) => {
    const pipe = gitPipe({ env })(call)
    pipes.push(pipe)
    return pipe
  }
  const reader = objectReader(open, { gitDir: `${repo.dir}/.git`, alternates: [] }, deadlineMs)
  onTestFinished(() => reader.close())
  return { repo, reader, pipes, oid: repo.git('rev-parse', 'HEAD:a.txt').trim() }
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

  test('M5: a git that waits at a pipe is ended, whoever asked is told, and the next question has another one', async () => {
    const { repo, reader, pipes, oid } = readerOf(process.env, 500)
    const folder = `${repo.dir}/.git/objects/ab`
    mkdirSync(folder)
    execFileSync('mkfifo', [`${folder}/${'c'.repeat(38)}`])
    const asked = [reader.read(`ab${'c'.repeat(38)}`), reader.read(oid)].map((answer) =>
      answer.catch((error) => error),
    )
    const ended = new Promise((resolve) => pipes[0]?.onEnd(resolve))
    for (const answer of await Promise.all(asked))
      expect(answer).toMatchObject({
        code: 'WT_020',
        message: 'git cat-file did not answer for 0.5 s, and was ended.',
      })
    const [, find = ''] = (await asked[0])?.hint.split('To list such: ') ?? []
    expect(execFileSync('sh', ['-c', find], { encoding: 'utf8' })).toBe(`${folder}/${'c'.repeat(38)}\n`)
    expect(await text(reader.read(oid))).toBe('one\n')
    expect(await ended).toMatchObject({ message: 'git cat-file ended (SIGKILL).' })
    expect(pipes).toHaveLength(2)
  })

  test('S4: a git that cannot be started is told to whoever asks', async () => {
    const { reader, oid } = readerOf({ PATH: '/nowhere' })
    await expect(reader.read(oid)).rejects.toMatchObject({ code: 'WT_015' })
    await expect(reader.readSize(oid)).rejects.toMatchObject({ code: 'WT_015' })
  })
})
