/**
 * How secrets look: names of files that hold secrets, formats of keys, and values that are assigned to a secret name.
 * Landing refuses them and redaction masks them by these same tables, so that neither knows a key that the other misses
 * (docs/adr/0040-one-table-of-secrets.md).
 *
 * Source: the formats that the issuers publish, compared on 2026-11-17 with the rules of gitleaks (commit b58d3f10 of
 * 2026-07-22). Lengths are lower bounds, shorter than today's keys, because issuers lengthen them.
 */

/** Ends of paths that are secret wherever they are: landing refuses such a file, and an agent does not read it unasked. */
export const secretPaths: readonly string[] = [
  'id_rsa',
  'id_dsa',
  'id_ecdsa',
  'id_ed25519',
  'id_ecdsa_sk',
  'id_ed25519_sk',
  '.netrc',
  '_netrc',
  '.pgpass',
  '.git-credentials',
  '.htpasswd',
  '.dockercfg',
  '.docker/config.json',
  '.aws/credentials',
  '.kube/config',
  'credentials.json',
]

/** Besides, in a repository. Outside of the workspace these are often no secrets of the user's: certificates, examples. */
const secretFiles: readonly RegExp[] = [
  /(^|\/)\.env(\.(?!example$|sample$|template$|dist$)[^/]*)?$/,
  /(^|\/)(?!\.?(?:example|sample|template|dist|default)s?\.env$)[^/]+\.env$/,
  /\.(pem|key|ppk|p8|p12|pfx|pkcs12|keystore|jks|kdbx)$/i,
]

export interface SecretFormat {
  readonly issuer: string
  /** One of these is in every such secret. A text without any of them is not searched further. */
  readonly signs: readonly string[]
  /**
   * Matches the whole secret, so that it can be masked. It takes linear time: what begins it cannot be inside of what it
   * repeats, or the repetition is bounded.
   */
  readonly pattern: RegExp
}

export const secretFormats: readonly SecretFormat[] = [
  // The header with the key itself, up to the END line or the end of the text.
  {
    issuer: 'PEM and OpenPGP private keys',
    signs: ['PRIVATE KEY'],
    pattern:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----)[^])*(?:-----END [A-Z0-9 ]{0,60}-----)?/,
  },
  { issuer: 'offshoot', signs: ['offshoot_'], pattern: /\boffshoot_[0-9a-z]{8}_[\w-]{30,}/ },
  { issuer: 'PuTTY', signs: ['PuTTY-User-Key-File-'], pattern: /\bPuTTY-User-Key-File-\d: [^\s]+[^]*/ },
  { issuer: 'age', signs: ['AGE-SECRET-KEY-1'], pattern: /\bAGE-SECRET-KEY-1[0-9A-Z]{40,}/ },
  {
    issuer: 'AWS',
    signs: ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    pattern: /\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b/,
  },
  { issuer: 'Amazon Bedrock', signs: ['ABSK'], pattern: /\bABSK[0-9A-Za-z+/]{100,}={0,2}/ },
  {
    issuer: 'GitHub',
    signs: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'],
    pattern: /\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}/,
  },
  {
    issuer: 'GitLab',
    signs: [
      'glpat-',
      'gldt-',
      'glrt-',
      'glft-',
      'glsoat-',
      'glptt-',
      'glagent-',
      'gloas-',
      'glcbt-',
      'GR1348941',
    ],
    pattern:
      /\bgl(?:pat|dt|rt|ft|soat|ptt|agent|oas|cbt)-[\w-]{16,}(?:\.[\w-]{6,}){0,2}|\bGR1348941[\w-]{16,}/,
  },
  // With a digit: `sk-` alone also begins names of CSS classes.
  {
    issuer: 'OpenAI, Anthropic and others',
    signs: ['sk-'],
    pattern: /(?<![\w-])sk-(?=[\w-]{0,100}\d)[\w-]{20,}/,
  },
  {
    issuer: 'Slack',
    signs: ['xox', 'xapp-', 'hooks.slack.com/'],
    pattern:
      /\bxox[abeoprs]-[\w-]{10,}|\bxapp-\d-[\w-]{20,}|\bhooks\.slack\.com\/(?:services|workflows|triggers)\/[\w+/]{30,}/,
  },
  {
    issuer: 'Google',
    signs: ['AIza', 'GOCSPX-', 'ya29.'],
    pattern: /\bAIza[\w-]{30,}|\bGOCSPX-[\w-]{20,}|\bya29\.[\w-]{20,}/,
  },
  { issuer: 'npm', signs: ['npm_'], pattern: /\bnpm_[0-9A-Za-z]{30,}/ },
  // With a digit: `_authToken=getAuthenticationToken` is code.
  {
    issuer: '.npmrc',
    signs: ['_authToken', ':_auth', ':_password'],
    pattern:
      /(?<=_authToken[\s=:"']{1,8}|:_(?:auth|password)[\s=]{1,4})(?<![\w+/.=-])(?=[\w+/.=-]{0,100}\d)[\w+/.=-]{16,}/,
  },
  { issuer: 'PyPI', signs: ['pypi-'], pattern: /(?<![\w-])pypi-(?=[\w-]{0,100}\d)[\w-]{32,}/ },
  { issuer: 'RubyGems', signs: ['rubygems_'], pattern: /\brubygems_[0-9a-f]{32,}/ },
  {
    issuer: 'Stripe',
    signs: ['k_live_', 'k_test_', 'k_prod_', 'whsec_'],
    pattern: /\b[sr]k_(?:live|test|prod)_[0-9A-Za-z]{10,}|\bwhsec_[0-9A-Za-z+/]{24,}/,
  },
  {
    issuer: 'Hugging Face',
    signs: ['hf_', 'api_org_'],
    pattern: /\b(?:hf|api_org)_(?=[a-z]*[0-9A-Z])[0-9A-Za-z]{30,}/,
  },
  { issuer: 'SendGrid', signs: ['SG.'], pattern: /\bSG\.[\w-]{16,}\.[\w-]{16,}/ },
  { issuer: 'Brevo', signs: ['xkeysib-'], pattern: /\bxkeysib-[0-9a-f]{40,}-\w{10,}/ },
  { issuer: 'Mailgun', signs: ['key-'], pattern: /(?<![\w-])key-[0-9a-f]{32}(?!\w)/ },
  // The whole pair is masked, since the name says nothing else.
  {
    issuer: 'Azure',
    signs: ['AccountKey=', 'SharedAccessKey=', 'Q~'],
    pattern:
      /\b(?:AccountKey|SharedAccessKey)=[0-9A-Za-z+/]{20,}={0,2}|(?<![\w~.-])[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~.-])/,
  },
  {
    issuer: 'DigitalOcean',
    signs: ['doo_v1_', 'dop_v1_', 'dor_v1_'],
    pattern: /\bdo[opr]_v1_[0-9a-f]{40,}/,
  },
  { issuer: 'Databricks', signs: ['dapi'], pattern: /\bdapi[0-9a-f]{32}\b/ },
  { issuer: 'Doppler', signs: ['dp.'], pattern: /\bdp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}/ },
  { issuer: 'Dynatrace', signs: ['dt0c01.'], pattern: /\bdt0c01\.[0-9A-Za-z]{20,}\.[0-9A-Za-z]{40,}/ },
  {
    issuer: 'Fly.io',
    signs: ['fo1_', 'fm1', 'fm2_'],
    pattern: /\bfo1_[\w-]{40,}|\bfm(?:1[ar]|2)_[0-9A-Za-z+/]{80,}={0,3}/,
  },
  { issuer: 'Grafana', signs: ['glc_', 'glsa_'], pattern: /\bglc_[0-9A-Za-z+/]{32,}={0,3}|\bglsa_\w{32,}/ },
  {
    issuer: 'HashiCorp',
    signs: ['hvs.', 'hvb.', '.atlasv1.'],
    pattern: /\bhv[sb]\.[\w-]{24,}|(?<!\w)\w{14}\.atlasv1\.[\w=-]{50,}/,
  },
  { issuer: 'Linear', signs: ['lin_api_'], pattern: /\blin_api_[0-9A-Za-z]{30,}/ },
  {
    issuer: 'New Relic',
    signs: ['NRAK-', 'NRII-', 'NRJS-'],
    pattern: /\bNR(?:AK|II|JS)-[0-9A-Za-z-]{19,}/,
  },
  { issuer: 'Notion', signs: ['ntn_'], pattern: /\bntn_\d{8,}[0-9A-Za-z]{30,}/ },
  { issuer: 'Perplexity', signs: ['pplx-'], pattern: /\bpplx-[0-9A-Za-z]{40,}/ },
  { issuer: 'Postman', signs: ['PMAK-'], pattern: /\bPMAK-[0-9a-f]{24}-[0-9a-f]{30,}/ },
  { issuer: 'Pulumi', signs: ['pul-'], pattern: /(?<![\w-])pul-[0-9a-f]{40}\b/ },
  { issuer: 'PlanetScale', signs: ['pscale_'], pattern: /\bpscale_(?:tkn|oauth|pw)_[\w=.-]{32,}/ },
  { issuer: 'Sentry', signs: ['sntry'], pattern: /\bsntry(?:u_[0-9a-f]{40,}|s_eyJ[\w+/=-]{40,})/ },
  {
    issuer: 'Shopify',
    signs: ['shpat_', 'shpca_', 'shppa_', 'shpss_'],
    pattern: /\bshp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}\b/,
  },
  { issuer: 'Square', signs: ['sq0'], pattern: /(?<![\w-])sq0(?:atp|csp)-[\w-]{20,}/ },
  { issuer: 'Telegram', signs: [':AA'], pattern: /(?<!\d)\d{8,10}:AA[\w-]{32,}/ },
  { issuer: 'Twilio', signs: ['SK'], pattern: /\bSK[0-9a-f]{32}\b/ },
  { issuer: '1Password', signs: ['ops_eyJ'], pattern: /\bops_eyJ[\w+/=-]{100,}/ },
  { issuer: 'Artifactory', signs: ['AKCp'], pattern: /\bAKCp[0-9A-Za-z]{60,}/ },
  { issuer: 'Atlassian', signs: ['ATATT3', 'ATCTT3'], pattern: /\bAT[AC]TT3[\w=-]{60,}/ },
  { issuer: 'Heroku', signs: ['HRKU-'], pattern: /\bHRKU-[\w-]{36,}/ },
  {
    issuer: 'JSON Web Tokens',
    signs: ['eyJ'],
    pattern: /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/,
  },
]

/** `.env.local`, `prod.env`, `deploy/id_rsa`, `server.key`. */
export function isSecretName(file: string): boolean {
  const isNamed = secretPaths.some((end) => file === end || file.endsWith(`/${end}`))
  return isNamed || secretFiles.some((pattern) => pattern.test(file))
}

/** Whether one of the formats, or a random value of a secret name, is in the text. */
export function hasSecret(text: string): boolean {
  if (anySign.test(text) && formatsIn(text).some(({ pattern }) => pattern.test(text))) return true
  for (const [, , value = ''] of text.matchAll(assignment)) if (isRandom(value)) return true
  return false
}

/** The text with `mask` in place of each secret. */
export function withoutSecretFormats(text: string, mask: string): string {
  const assigned = text.replace(assignment, (all, name: string, value: string) =>
    isRandom(value) ? name + mask : all,
  )
  return formatsIn(assigned).reduce((rest, { every }) => rest.replace(every, mask), assigned)
}

/** Private keys of several lines, by the words of their first and their last one. */
const keysOfLines = [
  { first: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/g, last: '-----END ' },
  { first: /\bPuTTY-User-Key-File-\d: /g, last: 'Private-MAC: ' },
]

/** Where a private key begins that the text does not end. No other line of it tells by itself that it is secret. */
export function beginOfOpenKey(text: string): number | undefined {
  for (const { first, last } of keysOfLines) {
    const begin = [...text.matchAll(first)].at(-1)?.index
    if (begin !== undefined && !text.includes(last, begin)) return begin
  }
  return undefined
}

const searched = secretFormats.map((format) => ({ ...format, every: new RegExp(format.pattern, 'g') }))
const formatsIn = (text: string) => searched.filter(({ signs }) => signs.some((sign) => text.includes(sign)))

/** One pass for all signs: most texts have none. */
const anySign = new RegExp(
  secretFormats
    .flatMap(({ signs }) => signs)
    .map((sign) => sign.replace(/\W/g, '\\$&'))
    .join('|'),
)

/**
 * `api_key: "x"`, `clientSecret = 'x'`, `TOKEN=x`, `"auth": "x"`. It begins with a fixed word, so that a long name is not
 * tried at each of its characters.
 */
const assignment =
  /((?:passw(?:or)?d|passphrase|secret|token|credentials?|(?:api|access|secret|private|signing|encryption|account|auth|master)[_-]?key|["']auth)["']?\s{0,8}(?::=|=>|[:=])\s{0,8}["'`]?)([\w+/.~-]{20,200}={0,2})(?![\w+/.~-])/gi

/** Words that stand for a secret in examples and tests. */
const placeholder = /example|sample|dummy|fake|your|change|placeholder|redacted|xxxx|0000|1234567|abcdef/i
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Unlike a word, a path or a date: letters and digits take turns, and few of them repeat. */
function isRandom(value: string): boolean {
  if (uuid.test(value) || placeholder.test(value)) return false
  const turns = value.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0
  return turns >= 4 && entropy(value) >= (/^[0-9a-f]+$/i.test(value) ? 3 : 3.7)
}

/** Bits per character, by Shannon. */
function entropy(value: string): number {
  const counts = new Map<string, number>()
  for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length)
  return bits
}

/** A file is searched in pieces of this size. */
export const pieceBytes = 1024 * 1024

/** No format and no assignment that is recognised needs more than this, so none is cut in two. */
const overlapBytes = 4 * 1024

export interface SecretSearch {
  take(piece: Buffer): void
  /** Whether the content holds a secret; asked after the last piece. */
  end(): boolean
}

/** Searches a content of any size in bounded memory, however it is cut into pieces. */
export function secretSearch(): SecretSearch {
  let held: Buffer[] = []
  let size = 0
  let found = false
  let isWide: boolean | undefined
  const search = (keep: number) => {
    const whole = Buffer.concat(held, size)
    isWide ??= /^(?:\xff\xfe|\xfe\xff)/.test(whole.toString('latin1', 0, 2))
    const text = whole.toString('latin1')
    // In UTF-16 every other byte of such a text is zero.
    found ||= hasSecret(isWide ? text.replaceAll('\0', '') : text)
    held = [whole.subarray(Math.max(0, size - keep))]
    size = held[0]?.length ?? 0
  }
  return {
    take(piece) {
      if (found) return
      held.push(piece)
      size += piece.length
      if (size >= pieceBytes + overlapBytes) search(overlapBytes)
    },
    end() {
      if (!found && size > 0) search(0)
      return found
    },
  }
}
