/**
 * How secrets look: names of files that hold secrets, and formats of keys. Landing refuses them and redaction masks them
 * by these same tables, so that neither knows a key that the other misses.
 *
 * Source: the formats that the issuers publish, compared on 2026-11-17 with the rules of gitleaks (commit b58d3f10 of
 * 2026-07-22). Lengths are lower bounds, shorter than today's keys, because issuers lengthen them.
 */

const secretFiles: readonly RegExp[] = [
  /(^|\/)\.env(\.(?!example$|sample$|template$|dist$)[^/]*)?$/,
  /(^|\/)(id_rsa|id_dsa|id_ecdsa|id_ed25519)$/,
  /\.(pem|p12|pfx|keystore|jks)$/,
  /(^|\/)(\.netrc|\.pgpass|credentials\.json)$/,
]

export interface SecretFormat {
  readonly issuer: string
  /** Matches the whole secret, so that it can be masked. */
  readonly pattern: RegExp
}

export const secretFormats: readonly SecretFormat[] = [
  // The header with the key itself, up to the END line or the end of the text.
  {
    issuer: 'PEM and OpenPGP private keys',
    pattern:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----)[^])*(?:-----END [A-Z0-9 ]{0,60}-----)?/,
  },
  { issuer: 'AWS', pattern: /\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b/ },
  { issuer: 'GitHub', pattern: /\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}/ },
  { issuer: 'GitLab', pattern: /\bglpat-[\w-]{16,}/ },
  // With a digit: `sk-` alone also begins names of CSS classes.
  { issuer: 'OpenAI, Anthropic and others', pattern: /\bsk-(?=[\w-]*\d)[\w-]{20,}/ },
  { issuer: 'Slack', pattern: /\bxox[abeoprs]-[\w-]{10,}/ },
  { issuer: 'Google', pattern: /\bAIza[\w-]{30,}/ },
  { issuer: 'npm', pattern: /\bnpm_[0-9A-Za-z]{30,}/ },
  { issuer: 'JSON Web Tokens', pattern: /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/ },
]

/** `.env.local`, `deploy/id_rsa`, `server.pem`. */
export function isSecretName(file: string): boolean {
  return secretFiles.some((pattern) => pattern.test(file))
}

export function hasSecret(text: string): boolean {
  return secretFormats.some(({ pattern }) => pattern.test(text))
}

const everySecret = secretFormats.map(({ pattern }) => new RegExp(pattern, 'g'))

/** The text with `mask` in place of each secret. */
export function withoutSecretFormats(text: string, mask: string): string {
  return everySecret.reduce((rest, pattern) => rest.replace(pattern, mask), text)
}
