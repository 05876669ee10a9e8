/** The check at the end of every run that no test has left anything in the temporary folders. */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../support/repo.ts'
import { memoryVariable } from '../support/temp-folders.ts'

const setup = path.resolve(import.meta.dirname, '../support/temp-folders-setup.ts')

/** Begins a run, as vitest does, lets `work` do something in it, and ends it. */
function run(work: string) {
  const folder = tempFolder()
  const { [memoryVariable]: _, ...env } = process.env
  const script = `
    import { mkdirSync, writeFileSync } from 'node:fs'
    import setup from ${JSON.stringify(setup)}
    const end = setup()
    if (setup() !== undefined) throw new Error('A second project made folders of its own.')
    const [disk, memory] = [process.env.TMPDIR, process.env.${memoryVariable}]
    ${work}
    end()`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...env, TMPDIR: folder },
    encoding: 'utf8',
  })
  return { status, stderr, left: readdirSync(folder) }
}

test('a run that leaves nothing passes, whatever Node keeps there', () => {
  expect(run(`mkdirSync(disk + '/node-compile-cache')`)).toEqual({ status: 0, stderr: '', left: [] })
})

test.each(['disk', 'memory'])('a file that is left fails the run, is named, and is removed: %s', (where) => {
  const { status, stderr, left } = run(`writeFileSync(${where} + '/leak', '')`)
  expect([status, left]).toEqual([1, []])
  expect(stderr).toMatch(/In the temporary folders the tests left:\n\S+\/leak\n/)
})
