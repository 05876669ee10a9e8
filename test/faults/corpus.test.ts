/** P1, P2, P4: whatever a clumsy or hostile agent does to its workspace and to the git that it can reach. */
import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { cleanEnv } from '../support/repo.ts'
import type { Action, Isolation } from './corpus/action.ts'
import { actions } from './corpus/actions.ts'
import type { Verdict } from './corpus/check-action.ts'
import { type Column, columns, corpusTable, type Row } from './corpus/corpus-table.ts'
import { fileFolder } from '../support/file-folder.ts'
import { memoryRoot } from '../support/temp-folders.ts'

const run = promisify(execFile)
const child = path.join(import.meta.dirname, 'corpus/action-child.ts')
const isolations: readonly Isolation[] = ['worktree', 'clone']
const deadlineMs = 120_000
const root = fileFolder(memoryRoot())
chmodSync(root, 0o755)
const rows: Row[] = []
let cases = 0

/** For root no file is unreadable, and no agent should be root: then somebody else plays the cases. */
const who = process.getuid?.() === 0 && nobodyCanRead() ? { uid: 65_534, gid: 65_534 } : undefined

function nobodyCanRead(): boolean {
  const look = ['--eval', 'fs.readFileSync(process.argv[1])', child]
  return spawnSync(process.execPath, look, { uid: 65_534, gid: 65_534 }).status === 0
}

afterAll(() => {
  const asRoot = process.getuid?.() === 0 && !who
  if (asRoot) console.log('Played by root, for whom every file is readable: that part proves nothing.')
  if (rows.length > 0) console.log(corpusTable(rows))
})

/** A process of its own: should it hang, it is ended. */
async function play(action: Action, isolation: Isolation): Promise<Verdict> {
  const folder = path.join(root, String(cases++))
  mkdirSync(folder)
  if (who) chownSync(folder, who.uid, who.gid)
  const env = { ...cleanEnv(folder), NODE_NO_WARNINGS: '1' }
  const options = { ...who, env, cwd: folder, timeout: deadlineMs, killSignal: 'SIGKILL' } as const
  try {
    const { stdout } = await run(process.execPath, [child, action.name, isolation, folder], options)
    return JSON.parse(stdout) as Verdict
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe.each(isolations)('P1, P2, P4: in a %s, all is well after an agent that', (isolation) => {
  const able = actions.filter((action) => (action.only ?? isolation) === isolation)
  test.concurrent.each(able)('$name', async (action) => {
    const verdict = await play(action, isolation)
    rows.push({ action: action.name, isolation, verdict })
    for (const column of Object.keys(columns) as Column[]) {
      expect(verdict[column], `${action.name}, ${isolation}: ${columns[column]}`).toEqual([])
    }
  })
})
