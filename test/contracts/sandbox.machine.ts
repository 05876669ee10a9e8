/** This machine, as a sandbox is handed it. */
import os from 'node:os'
import { nodeFiles } from '../../src/files/node.ts'
import { commands } from '../../src/process/commands.ts'
import type { Machine } from '../../src/sandbox/sandbox.ts'

export function thisMachine(home: string): Machine {
  return {
    commands: commands({ env: process.env, recordChild: () => () => {} }),
    files: nodeFiles(),
    home,
    temp: os.tmpdir(),
  }
}
