/** The suite that every kind of sandbox passes. */
import { spawnSync } from 'node:child_process'
import { createReadStream, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Cell } from '../../src/core/ports/sandbox.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { runProgram } from '../support/processes.ts'
import { thisMachine } from './sandbox.machine.ts'

const owner = new URL('./sandbox.owner.ts', import.meta.url)

/** Holds the pipe `alive` open, as does its child, until both have ended. */
const family = 'exec 9>alive; sleep 1000 & echo begun; wait'

/** Comes true when every process that held the pipe open has ended: the pipe works across the walls of a cell, a pid does not. */
function watchPipe(workspace: string): Promise<true> {
  const pipe = path.join(workspace, 'alive')
  spawnSync('mkfifo', [pipe])
  return new Promise((resolve) => {
    createReadStream(pipe)
      .on('end', () => resolve(true))
      .resume()
  })
}

export function sandboxContract(sandbox: Sandbox): void {
  describe(`the sandbox ${sandbox.kind}`, () => {
    let folder: string
    let workspace: string
    let runFolder: string
    let cell: Cell

    beforeEach(async () => {
      folder = mkdtempSync(path.join(tmpdir(), 'offshoot-sandbox-'))
      workspace = path.join(folder, 'workspace')
      runFolder = path.join(folder, 'state', 'run-folders', 'r1')
      mkdirSync(workspace)
      const env = { OFFSHOOT_RUN: path.basename(folder), OWN: 'of the cell' }
      cell = await sandbox.open(thisMachine(folder), { workspace, env, runFolder })
    })
    afterEach(async () => {
      await cell.close()
      rmSync(folder, { recursive: true })
    })

    /** Runs a shell script to its end. */
    async function sh(script: string, more: Partial<Parameters<Cell['run']>[0]> = {}, signal?: AbortSignal) {
      const said = { stdout: '', stderr: '' }
      const onOutput = (stream: 'stdout' | 'stderr', text: string) => void (said[stream] += text)
      const code = await cell.run({ argv: ['sh', '-c', script], onOutput, ...more }, signal)
      return { code, ...said }
    }

    /** Runs the family in the background; `ended` comes true when no process of it is left. */
    async function begin(script = family, signal?: AbortSignal) {
      const ended = watchPipe(workspace)
      const begun = Promise.withResolvers<void>()
      const running = cell.run({ argv: ['sh', '-c', script], onOutput: () => begun.resolve() }, signal)
      await Promise.race([begun.promise, running])
      return { running, ended }
    }

    test.each([0, 1, 42])('a program that ends with %i is answered so', async (code) => {
      expect((await sh(`exit ${code}`)).code).toBe(code)
    })

    test('a program that a signal ended is answered as a shell would', async () => {
      expect((await sh('kill -TERM $$')).code).toBe(128 + 15)
    })

    test('a program that is not there gives WT_005', async () => {
      await expect(cell.run({ argv: ['no-such-program'] })).rejects.toMatchObject({ code: 'WT_005' })
    })

    test('both kinds of output come apart, and all of them', async () => {
      const { stdout, stderr } = await sh('printf out; printf err >&2; yes | head -c 200000')
      expect(stderr).toBe('err')
      expect(stdout).toHaveLength(3 + 200_000)
    })

    test('a program starts in the workspace, which it knows by the path that the cell tells', async () => {
      expect((await sh('pwd; echo kept > made')).stdout).toBe(`${cell.workspace}\n`)
      expect(readFileSync(path.join(workspace, 'made'), 'utf8')).toBe('kept\n')
    })

    test('a call adds to the environment and cannot change what the cell says', async () => {
      const { stdout } = await sh('echo "$MORE, $OWN"', { env: { MORE: 'of the call', OWN: 'changed' } })
      expect(stdout).toBe('of the call, of the cell\n')
    })

    test('a program reads what is written to its stdin, to the end', async () => {
      const { stdout } = await sh('cat', {
        onStart(input) {
          input.write('one\n')
          input.write('two\n')
          input.end()
        },
      })
      expect(stdout).toBe('one\ntwo\n')
    })

    test('cancelling gives WT_021 and ends the program with all that it started', async () => {
      const abort = new AbortController()
      const { running, ended } = await begin(family, abort.signal)
      abort.abort()
      await expect(running).rejects.toMatchObject({ code: 'WT_021' })
      expect(await ended).toBe(true)
    })

    test('whoever is cancelled already runs nothing', async () => {
      const cancelled = sh('echo ran > made', {}, AbortSignal.abort())
      await expect(cancelled).rejects.toMatchObject({ name: 'AbortError' })
      expect(existsSync(path.join(workspace, 'made'))).toBe(false)
    })

    test.each([
      ['in its group', 'exec 9>alive; sleep 1000 & echo begun'],
      ['in a session of its own', 'exec 9>alive; setsid sleep 1000 & echo begun'],
    ])('a program that ended leaves nothing running %s', async (_, script) => {
      const { running, ended } = await begin(script)
      expect(await running).toBe(0)
      expect(await ended).toBe(true)
    })

    test('end ends all that still runs, and the cell goes on', async () => {
      const { running, ended } = await begin()
      running.catch(() => {})
      await cell.end()
      await expect(running).rejects.toMatchObject({ code: 'WT_021' })
      expect(await ended).toBe(true)
      expect((await sh('echo on')).stdout).toBe('on\n')
    })

    test('close ends all that still runs; a closed cell runs nothing and may be closed again', async () => {
      const { ended } = await begin()
      await cell.close()
      expect(await ended).toBe(true)
      await expect(sh('echo ran > made')).rejects.toMatchObject({ code: 'WT_021' })
      expect(existsSync(path.join(workspace, 'made'))).toBe(false)
      await cell.close()
    })

    test('P2: killed with us, a program ends with all that it started', async () => {
      const ended = watchPipe(workspace)
      const running = runProgram(owner, sandbox.kind, folder, workspace, family)
      expect(await running.line()).toBe('begun')
      await running.kill()
      expect(await ended).toBe(true)
    })

    test('a file in the run folder is seen from inside; nobody else may look into the folder', async () => {
      expect(existsSync(runFolder)).toBe(false)
      const file = path.join(await cell.makeRunFolder(), 'plugin.js')
      await writeFile(file, 'for the agent')
      expect((await sh(`cat '${cell.inside(file)}'`)).stdout).toBe('for the agent')
      expect((statSync(path.dirname(file)).mode & 0o777).toString(8)).toBe('700')
    })

    test('a program reaches a socket of ours, with the Node that the cell tells', async () => {
      const socket = path.join(await cell.makeSocketFolder(), 's')
      expect(Buffer.byteLength(socket)).toBeLessThan(100)
      const server = createServer((client) => client.end('from outside'))
      await new Promise<void>((resolve) => server.listen(socket, resolve))
      const script = 'require("node:net").connect(process.argv[1]).pipe(process.stdout)'
      const { stdout } = await sh(`'${cell.node}' -e '${script}' '${cell.inside(socket)}'`)
      server.close()
      expect(stdout).toBe('from outside')
    })

    test.each([
      ['has one that is short', 'r1'],
      ['has none that is short enough', 'r'.repeat(100)],
    ])('the folder of a socket is for our user alone, and short, where a run %s', async (_, name) => {
      const runs = path.join(folder, 'state', 'run-folders')
      const task = { workspace, env: {}, runFolder: path.join(runs, name) }
      const other = await sandbox.open(thisMachine(folder), task)
      const made = await other.makeSocketFolder()
      expect(Buffer.byteLength(path.join(made, 's'))).toBeLessThan(100)
      expect((statSync(made).mode & 0o777).toString(8)).toBe('700')
      await other.close()
      expect(existsSync(made)).toBe(false)
    })

    test('close removes the folders that the cell made, and no other', async () => {
      const made = [await cell.makeRunFolder(), await cell.makeSocketFolder(), await cell.makeSocketFolder()]
      expect(new Set(made).size).toBe(3)
      await cell.close()
      expect(made.map((one) => existsSync(one))).toEqual([false, false, false])
      expect(existsSync(workspace)).toBe(true)
    })

    test('a cell that was given no run folder makes a temporary one', async () => {
      const other = await sandbox.open(thisMachine(folder), { workspace, env: {} })
      const made = await other.makeRunFolder()
      expect(existsSync(made)).toBe(true)
      await other.close()
      expect(existsSync(made)).toBe(false)
    })
  })
}
