import type { Action } from './action.ts'
import { broken } from './broken.ts'
import { gitVerbs } from './git-verbs.ts'
import { planted } from './planted.ts'
import { shapes } from './shapes.ts'

export const actions: readonly Action[] = [...gitVerbs, ...broken, ...shapes, ...planted]
