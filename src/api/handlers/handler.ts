/** The shape of a handler: an action's input in, a verb called, its output out. */
import type { ActionName } from '../../actions/index.ts'
import type { Ports } from '../../core/ports/index.ts'
import type { Input, Output } from '../../protocol/schemas/index.ts'
import type { Caller } from '../caller.ts'
import type { Emit } from '../views.ts'

/** What comes with an input. */
interface Asked {
  readonly caller: Caller
  readonly signal?: AbortSignal | undefined
  readonly emit?: Emit | undefined
}

type Handler<A extends ActionName, Needs = Ports> = (
  ports: Needs,
  input: Input<A>,
  asked: Asked,
) => Promise<Output<A>>

export type Handlers<A extends ActionName, Needs = Ports> = { readonly [Name in A]: Handler<Name, Needs> }
