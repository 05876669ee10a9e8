/** Answers the requests that are no action: health, metrics, proof, code and key of the page, stop. */
import { makePageKey } from '../api/keys.ts'
import { nonceForm, proofOf } from '../client/proof.ts'
import { AppError } from '../core/model/errors.ts'
import type { Ports } from '../core/ports/index.ts'
import { jsonAnswer, success } from './answer.ts'
import type { Attempts } from './attempts.ts'
import { openCodes } from './codes.ts'
import type { HttpDoor, Way } from './http.ts'
import type { Metrics } from './metrics.ts'
import { openStatic } from './static.ts'

interface Needs {
  readonly ports: Ports
  readonly version: string
  /** The token of daemon.json. */
  readonly token: string
  readonly metrics: Metrics
  readonly attempts: Attempts
  readonly api: Way
  readonly mcp: Way
  /** Begins the stop; resolves when everything else has ended. */
  readonly stop: () => Promise<void>
}

/** Wrong codes are counted like wrong tokens. */
const codes = 'codes'

export function openWays(needs: Needs): HttpDoor['ways'] & { readonly makeCode: () => string } {
  const { ports, version, token, metrics, attempts, api, mcp, stop } = needs
  const open = openCodes(() => performance.now())
  const files = openStatic()
  return {
    api,
    mcp,
    mcpStream: () => ({ status: 405, headers: { allow: 'POST' }, body: '' }),
    makeCode: open.make,
    health: () => success({ version }),
    metrics: () => ({
      status: 200,
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      body: metrics.text(),
    }),
    async openapi() {
      const { openApi } = await import('../protocol/openapi.ts')
      return jsonAnswer(200, openApi(version))
    },
    prove: ({ body, entrance }) => {
      const nonce = field(body, 'nonce')
      if (nonce === undefined || !nonceForm.test(nonce))
        throw new AppError('wrongUsage', 'The nonce has the wrong form.', {
          hint: 'Take 16 to 128 letters, digits, "_" and "-".',
        })
      return success({ proof: proofOf(token, entrance.address, nonce) })
    },
    code: () => success({ code: open.make() }),
    async key({ body, connection }) {
      // The code is for a moment in the command line of the browser, which other users can read.
      if (!connection || (await ports.sockets.isOfOther(connection))) return { status: 403, body: '' }
      const code = field(body, 'code') ?? ''
      if (attempts.limited().has(codes)) return { status: 429, body: '' }
      if (open.redeem(code)) return success({ key: await makePageKey(ports) })
      attempts.note(codes)
      return { status: 401, body: '' }
    },
    async stop() {
      await stop()
      return success({ stopped: true })
    },
    file: ({ allowed }) => files(allowed.path),
  }
}

function field(body: unknown, name: string): string | undefined {
  const value =
    typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined
  return typeof value === 'string' ? value : undefined
}
