/** The type of a handler: it takes the input of an action, calls a verb, and returns the output. */
import type { ActionName } from '../../actions/index.ts'
import type { Watch } from '../../core/base/watch.ts'
import type { Ports } from '../../core/ports/index.ts'
import type { Input, Output } from '../../protocol/schemas/index.ts'
import type { Caller } from '../caller.ts'
import type { Emit } from '../views.ts'

/** Everything of a call besides its input. */
interface Asked {
  readonly caller: Caller
  readonly signal?: AbortSignal | undefined
  readonly emit?: Emit | undefined
  readonly watch?: Watch | undefined
}

type Handler<A extends ActionName, Needs = Ports> = (
  ports: Needs,
  input: Input<A>,
  asked: Asked,
) => Promise<Output<A>>

export type Handlers<A extends ActionName, Needs = Ports> = { readonly [Name in A]: Handler<Name, Needs> }
