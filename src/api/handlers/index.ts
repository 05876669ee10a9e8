/**
 * Action → verb: the one table behind the command line, the library and every other door. Verbs are imported when
 * they are called, so that a command pays only for its own.
 */
import type { ActionName } from '../../actions/index.ts'
import type { Handlers } from './handler.ts'
import { health } from './health.ts'
import { land } from './land.ts'
import { look } from './look.ts'
import { recordHandlers } from './records.ts'
import { setup } from './setup.ts'
import { work } from './work.ts'

export const handlers: Handlers<ActionName> = {
  ...work,
  ...look,
  ...recordHandlers,
  ...land,
  ...health,
  ...setup,
}
