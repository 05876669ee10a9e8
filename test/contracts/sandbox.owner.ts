/** Runs a shell script in a cell, prints what it says, and stays. */
import { writeSync } from 'node:fs'
import type { SandboxKind } from '../../src/core/model/enums.ts'
import { sandboxesOn } from '../../src/sandbox/index.ts'
import { thisMachine } from './sandbox.machine.ts'

const [kind, folder, workspace, script] = process.argv.slice(2) as [SandboxKind, string, string, string]
const cell = await sandboxesOn(thisMachine(folder)).open(kind, { workspace, env: {} })
await cell.run({ argv: ['sh', '-c', script], onOutput: (_, text) => void writeSync(1, text) })
