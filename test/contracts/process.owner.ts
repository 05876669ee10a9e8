/** Starts a child that leads its own group and has a child itself, records it, prints both pids, and stays. */
import { spawn } from 'node:child_process'
import { writeSync } from 'node:fs'
import { processes } from '../../src/process/processes.ts'

const [folder, script] = process.argv.slice(2) as [string, string]
const records = processes(folder)
const child = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
records.recordChild(child.pid!)
child.stdout.once('data', (grandchild: Buffer) => {
  writeSync(
    1,
    `${JSON.stringify({ owner: records.self(), child: child.pid, grandchild: Number(grandchild) })}\n`,
  )
})
setInterval(() => {}, 1000)
