/** An action as the user asks for it, on ports that a test has composed. */
import type { ActionName } from '../../src/actions/index.ts'
import { openDoor } from '../../src/api/call.ts'
import type { Emit } from '../../src/api/views.ts'
import type { Ports } from '../../src/core/ports/index.ts'
import type { Input, Output } from '../../src/protocol/schemas/index.ts'

export function call<A extends ActionName>(
  ports: Ports,
  action: A,
  input: Input<A>,
  signal?: AbortSignal,
  emit?: Emit,
): Promise<Output<A>> {
  return openDoor(ports, () => ({ kind: 'user' }))(action, input, signal, emit)
}
