import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Locks } from '../../src/core/ports/locks.ts'
import { runProgram } from '../support/processes.ts'

export interface LocksUnderTest {
  readonly name: string
  readonly open: (folder: string) => Locks
  /** The module and its export that open the same locks in another process. */
  readonly module: URL
  readonly factory: string
}

const program = new URL('./lock.holder.ts', import.meta.url)
const once = { verb: 'test', waitMs: 0 }

/** What all locks must do. */
export function lockContract({ name, open, module, factory }: LocksUnderTest): void {
  describe(`${name} as locks`, () => {
    let folder: string
    let locks: Locks

    beforeEach(() => {
      folder = mkdtempSync(path.join(tmpdir(), 'offshoot-lock-'))
      locks = open(path.join(folder, 'locks'))
    })
    afterEach(() => {
      rmSync(folder, { recursive: true })
    })

    const run = (...args: string[]) =>
      runProgram(program, module.href, factory, path.join(folder, 'locks'), ...args)
    const holdElsewhere = async (lock: string, verb: string) => {
      const holder = run(lock, verb, 'hold')
      expect(await holder.line()).toBe('held')
      return holder
    }

    test('S2: 8 processes that add to one counter under a lock lose no addition', async () => {
      const counter = path.join(folder, 'counter')
      writeFileSync(counter, '0')
      const adders = Array.from({ length: 8 }, () => run('repo', 'add', 'count', counter, '25'))
      await Promise.all(adders.map((adder) => adder.rest()))
      expect(readFileSync(counter, 'utf8')).toBe(String(8 * 25))
    })

    test('S2: a lock whose holder was killed goes to the one who waits', async () => {
      const holder = await holdElsewhere('repo', 'start')
      const waiting = locks.hold('repo', { verb: 'test' }, async () => performance.now())
      await expect(locks.hold('repo', once, async () => {})).rejects.toMatchObject({ code: 'WT_012' })
      await holder.kill()
      const released = performance.now()
      expect((await waiting) - released).toBeLessThan(500)
    })

    test('S2: work that hangs keeps its lock, though the garbage collector has no use for it', async () => {
      await holdElsewhere('repo', 'start')
      await expect(locks.hold('repo', once, async () => {})).rejects.toMatchObject({ code: 'WT_012' })
    })

    test('WT_012 names the verb and the process that holds the lock, and since when', async () => {
      const holder = await holdElsewhere('repo', 'start')
      const since = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string
      await expect(locks.hold('repo', { verb: 'test', waitMs: 30 }, async () => {})).rejects.toMatchObject({
        code: 'WT_012',
        message: expect.stringContaining(`held by \`start\`, process ${holder.pid}, since `) as string,
        data: { holder: { pid: holder.pid, verb: 'start', since } },
      })
    })

    test('S3: a cancelled wait ends with WT_021 and leaves no lock', async () => {
      const holder = await holdElsewhere('repo', 'start')
      const abort = new AbortController()
      let worked = false
      const waiting = locks.hold('repo', { verb: 'test', signal: abort.signal }, async () => {
        worked = true
      })
      setImmediate(() => abort.abort())
      await expect(waiting).rejects.toMatchObject({ code: 'WT_021' })
      await holder.kill()
      expect(await locks.hold('repo', once, async () => 'free')).toBe('free')
      expect(worked).toBe(false)
    })

    test('S3: who is cancelled already gets no lock that is free', async () => {
      const held = locks.hold('repo', { ...once, signal: AbortSignal.abort() }, async () => 'worked')
      await expect(held).rejects.toMatchObject({ code: 'WT_021' })
    })

    test('other work goes on while one waits', async () => {
      await holdElsewhere('repo', 'start')
      let turns = 0
      const turn = setInterval(() => turns++, 1)
      await expect(locks.hold('repo', { verb: 'test', waitMs: 200 }, async () => {})).rejects.toThrow(
        'held by',
      )
      clearInterval(turn)
      expect(turns).toBeGreaterThan(20)
    })

    test('two holders in one process take turns', async () => {
      let inside = 0
      let most = 0
      await Promise.all(
        Array.from({ length: 10 }, () =>
          locks.hold('repo', { verb: 'test' }, async () => {
            most = Math.max(most, ++inside)
            await new Promise(setImmediate)
            inside--
          }),
        ),
      )
      expect(most).toBe(1)
      await locks.hold('repo', once, () =>
        expect(locks.hold('repo', once, async () => {})).rejects.toMatchObject({ code: 'WT_012' }),
      )
    })

    test('locks of different names do not wait for each other, however alike the names are', async () => {
      const names = ['task/A', 'task/a', 'task A', '../task/A', `task/${'A'.repeat(300)}`]
      const nested = names.reduceRight<() => Promise<string>>(
        (inner, lock) => () => locks.hold(lock, once, inner),
        async () => 'all held',
      )
      expect(await nested()).toBe('all held')
      expect(readdirSync(folder)).toEqual(['locks'])
    })

    test('work that fails gives the lock back and its own error on', async () => {
      const failure = new Error('broken')
      await expect(locks.hold('repo', once, () => Promise.reject(failure))).rejects.toBe(failure)
      expect(await locks.hold('repo', once, async () => 'free')).toBe('free')
    })

    test('tryHold hands on what its work answers, and gives the lock back', async () => {
      expect(await locks.tryHold('repo', { verb: 'test' }, async () => 'busy')).toEqual({ value: 'busy' })
      expect(await locks.hold('repo', once, async () => 'free')).toBe('free')
    })

    test('tryHold answers busy at once while another process holds the lock, and does not work', async () => {
      const holder = await holdElsewhere('repo', 'start')
      let worked = false
      const work = async () => {
        worked = true
      }
      expect(await locks.tryHold('repo', { verb: 'test' }, work)).toBe('busy')
      expect(worked).toBe(false)
      await holder.kill()
      expect(await locks.tryHold('repo', { verb: 'test', waitMs: 10_000 }, work)).toEqual({
        value: undefined,
      })
      expect(worked).toBe(true)
    })

    test('tryHold waits as long as it is told, and gets a lock that is released meanwhile', async () => {
      const holder = await holdElsewhere('repo', 'start')
      const waiting = locks.tryHold('repo', { verb: 'test', waitMs: 10_000 }, async () => 'worked')
      await holder.kill()
      expect(await waiting).toEqual({ value: 'worked' })
    })

    test('tryHold passes on an error of its work, also one that says locked', async () => {
      const inner = locks.hold('repo', once, () =>
        locks.tryHold('other', once, () => locks.hold('repo', once, async () => {})),
      )
      await expect(inner).rejects.toMatchObject({ code: 'WT_012', data: { lock: 'repo' } })
      expect(await locks.tryHold('other', once, async () => 'free')).toEqual({ value: 'free' })
    })

    test('S3: tryHold that is cancelled ends with WT_021', async () => {
      await holdElsewhere('repo', 'start')
      const tried = locks.tryHold('repo', { ...once, signal: AbortSignal.abort() }, async () => {})
      await expect(tried).rejects.toMatchObject({ code: 'WT_021' })
    })

    test('S2: the lock outlasts what else its process opens and closes', async () => {
      const held = path.join(folder, 'locks')
      await locks.hold('repo', once, async () => {
        await locks.hold('other', once, async () => {})
        await expect(locks.hold('repo', once, async () => {})).rejects.toMatchObject({ code: 'WT_012' })
        for (const name of readdirSync(held).filter((file) => file.endsWith('.holder'))) {
          readFileSync(path.join(held, name))
        }
        expect(await run('repo', 'test', 'try').rest()).toEqual(['WT_012'])
      })
      expect(await run('repo', 'test', 'try').rest()).toEqual(['held'])
    })

    test('a folder that cannot be used gives WT_022', async () => {
      mkdirSync(path.join(folder, 'locks'))
      await locks.hold('repo', once, async () => {})
      const [file] = readdirSync(path.join(folder, 'locks'))
      rmSync(path.join(folder, 'locks', file!))
      mkdirSync(path.join(folder, 'locks', file!))
      await expect(locks.hold('repo', once, async () => {})).rejects.toMatchObject({ code: 'WT_022' })
    })
  })
}
