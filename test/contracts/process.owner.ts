/** Starts a child that leads its own group and has a child itself, records it, prints both pids, and stays. */
import { writeSync } from 'node:fs'
import { processes } from '../../src/process/processes.ts'
import { startGroup } from '../../src/process/spawn.ts'

const [folder, script] = process.argv.slice(2) as [string, string]
const records = processes(folder)
const { child } = startGroup({
  program: '/bin/sh',
  args: ['-c', script],
  cwd: '/',
  env: process.env,
  stdio: ['pipe', 'pipe', 'inherit'],
  isGated: false,
  record: records.recordChild,
})
child.stdout!.once('data', (grandchild: Buffer) => {
  writeSync(
    1,
    `${JSON.stringify({ owner: records.self(), child: child.pid, grandchild: Number(grandchild) })}\n`,
  )
})
setInterval(() => {}, 1000)
