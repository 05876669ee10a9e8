/** `POST /api/<action>`: calls the action, and answers what `--json` would print. */
import { AppError } from '../core/model/errors.ts'
import { failure, success } from './answer.ts'
import type { Way } from './http.ts'
import type { Perform } from './perform.ts'
import { restOf } from './routes.ts'

export function openApi(perform: Perform): Way {
  return async ({ allowed: { credential, path }, body, signal: leaves, header }) => {
    if (!credential) throw new AppError('failed', 'Nobody asked.')
    const [name, key] = [restOf('api', path), header('idempotency-key')]
    // Who sends a key comes back for the answer, so that only the stop of the daemon cancels it.
    const outcome = await perform({ credential, name, body, key, leaves, comesBack: true })
    return outcome.ok ? success(outcome.output) : failure(outcome.error)
  }
}
