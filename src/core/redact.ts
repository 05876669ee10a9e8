/** What looks like a secret is not written down: command lines end up in steps, commits and the audit log. */

const mask = '***'

const secretName =
  '[\\w-]*(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|credentials?|auth)'

const value = `("[^"]*"|'[^']*'|\\S+)`

/** `--token=x`, `API_KEY=x` */
const assigned = new RegExp(`(\\b${secretName}=)${value}`, 'gi')

/** `X-Api-Key: x`: in a command line a header, in a sentence perhaps what it is about. */
const header = new RegExp(`(\\b${secretName}:\\s*)${value}`, 'gi')

const signedIn = `\\b(?:proxy-)?authorization["']?\\s*[:=]\\s*["']?`
const pair = `\\w+=(?:"[^"]*"|[^\\s"',]+)`

/** `Authorization: Basic x`, `Authorization: Digest name="x", response="y"` */
const byScheme = new RegExp(
  `(${signedIn}(?:basic|bearer|digest|negotiate|ntlm|apikey|aws4-hmac-sha256)\\s+)(?:${pair}(?:,\\s*${pair})*|[^\\s"',;]+)`,
  'gi',
)

/** `Authorization: x`, `Authorization: token x`: here, too, it may be a sentence, so only what looks like a key. */
const byKey = new RegExp(`(${signedIn}(?:[\\w-]+\\s+)?)(?=[^\\s"']*\\d)[^\\s"',;]{8,}`, 'gi')

/** `--token x`: the value is a word of its own. */
const option = new RegExp(`^--?${secretName}$`, 'i')

/** `curl -u bob:x` */
const signIn = /((?:^|\s)(?:-u|--user|--proxy-user)[\s=]+[^\s:]+:)[^\s'"]+/g

/** `mysql -px` */
const shortPassword = /(\b(?:mysql|mariadb)[\w-]*\s(?:.*\s)?-p)[^\s'"]+/g

const known = [
  /\b(?:ghp|gho|ghu|ghs|ghr)_\w{20,}|\bgithub_pat_\w{20,}/g,
  /\bglpat-[\w-]{16,}/g,
  /\bsk-[\w-]{16,}/g,
  /\bxox[abposr]-[\w-]{10,}/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /\bAIza[\w-]{30,}/g,
  /\bnpm_[0-9A-Za-z]{30,}/g,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g,
]

/** The words of a command line in one line, without what looks like a secret. */
export function commandLine(argv: readonly string[]): string {
  const words = argv.map((word, n) =>
    n > 0 && option.test(argv[n - 1] ?? '') ? mask : redacted(word).replace(header, `$1${mask}`),
  )
  return withoutSignIn(words.join(' '))
}

/** Any text, without what is known to be a secret. */
export function redacted(text: string): string {
  const named = text
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)[^\s/@]+@/gi, `$1${mask}@`)
    .replace(/(\bBearer\s+)[\w.~+/=-]+/gi, `$1${mask}`)
    .replace(byScheme, `$1${mask}`)
    .replace(byKey, `$1${mask}`)
    .replace(assigned, `$1${mask}`)
  return withoutSignIn(known.reduce((rest, pattern) => rest.replace(pattern, mask), named))
}

function withoutSignIn(text: string): string {
  return text.replace(signIn, `$1${mask}`).replace(shortPassword, `$1${mask}`)
}
