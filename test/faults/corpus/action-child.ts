/** Plays one action as a process of its own, so that a hang can be ended: `node action-child.ts <action> <isolation> <folder>`. */
import { writeSync } from 'node:fs'
import type { Isolation } from './action.ts'
import { actions } from './actions.ts'
import { checkAction } from './check-action.ts'

const [name, isolation, root] = process.argv.slice(2) as [string, Isolation, string]
const action = actions.find((row) => row.name === name)
if (!action) throw new Error(`There is no action ${name}.`)
writeSync(1, `${JSON.stringify(await checkAction(action, isolation, root))}\n`)
