/**
 * The handler of each action: the one table behind the command line, the library and every other door. A handler imports
 * its verb when it is called, so that a command loads only its own (docs/adr/0016-records-apart-and-one-bundle.md).
 */
import type { ActionName } from '../../actions/index.ts'
import type { Handlers } from './handler.ts'
import { health } from './health.ts'
import { land } from './land.ts'
import { look } from './look.ts'
import { recordHandlers } from './records.ts'
import { setup } from './setup.ts'
import { token } from './token.ts'
import { work } from './work.ts'

export const handlers: Handlers<ActionName> = {
  ...work,
  ...look,
  ...recordHandlers,
  ...land,
  ...health,
  ...setup,
  ...token,
}
