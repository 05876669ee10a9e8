/** One-time codes: `serve --open` hands one to the browser, which exchanges it for a key (docs/adr/0061-tokens-and-the-page-key.md). */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** From the start of a browser until its page has loaded. */
const validMs = 60_000
const most = 16

export interface Codes {
  make(): string
  /** Whether the code was valid. It is not any more. */
  redeem(code: string): boolean
}

export function openCodes(now: () => number): Codes {
  let open: { readonly hash: Buffer; readonly until: number }[] = []
  const hashOf = (code: string) => createHash('sha256').update(code).digest()
  return {
    make() {
      const code = randomBytes(32).toString('base64url')
      open = [...open, { hash: hashOf(code), until: now() + validMs }].slice(-most)
      return code
    },
    redeem(code) {
      const hash = hashOf(code)
      open = open.filter(({ until }) => until > now())
      const found = open.find((one) => timingSafeEqual(one.hash, hash))
      open = open.filter((one) => one !== found)
      return found !== undefined
    },
  }
}
