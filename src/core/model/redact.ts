/** What looks like a secret is not written down: command lines end up in steps, commits and the audit log. */
import type { TaskEvent } from './events.ts'
import { withoutSecretFormats } from './secrets.ts'

const mask = '***'

/** `pass` and `pwd` only as a word of its own: not `bypass`, and not `PWD`, the folder. */
const secretName =
  '(?:[\\w-]*(?:password|passwd|passphrase|secret|token|(?:api|access|secret|private|signing|encryption)[_-]?key|credentials?)' +
  '|(?:[\\w-]*[_-])?pass|[\\w-]*[_-]pwd)'

/** Where a name begins, dashes and all: looked for within a name as well, a long one would take for ever. */
const begins = '(?<![\\w-])'

/** `auth` also says in which way: `auth=none`. */
const vagueName = '[\\w-]*auth'

const value = `("[^"]*"|'[^']*'|\\S+)`
const word = `("[^"]*"|'[^']*'|[^\\s"';|&]+)`

/** What is no secret, whatever its name. */
const plain = /^["']?(?:none|null|nil|undefined|true|false|yes|no|on|off|\d{1,3})["']?[,;)}\]]*$/i

/** `--token=x`, `API_KEY=x` */
const assigned = new RegExp(`(${begins}${secretName}=)${value}`, 'gi')

const vaguelyAssigned = new RegExp(`(${begins}${vagueName}=)${value}`, 'gi')

/** `"token": "x"` */
const member = new RegExp(`((["'])${secretName}\\2\\s*:\\s*)("[^"]*"|'[^']*')`, 'gi')

/** `password: x`: often it is a sentence, so only what looks like a key. */
const said = new RegExp(`(${begins}(?:${secretName}|${vagueName}):\\s*)(?=[^\\s"']*\\d)[^\\s"',;]{8,}`, 'gi')

const schemes = 'basic|bearer|digest|negotiate|ntlm|apikey|aws4-hmac-sha256'

/** `-H 'X-Api-Key: x'`: a header for sure. */
const header = new RegExp(
  `((?:^|\\s)(?:-H|--header)[\\s=]*["']?(?:${secretName}|${vagueName}|(?:proxy-)?authorization)\\s*:\\s*(?:(?:${schemes}|token)\\s+)?)[^\\s"']+`,
  'gi',
)

const signedIn = `\\b(?:proxy-)?authorization["']?\\s*[:=]\\s*["']?`
const pair = `\\w+=(?:"[^"]*"|[^\\s"',]+)`

/** `Authorization: Basic x`, `Authorization: Digest name="x", response="y"` */
const byScheme = new RegExp(`(${signedIn}(?:${schemes})\\s+)(${pair}(?:,\\s*${pair})*|[^\\s"',;]+)`, 'gi')

/** `Authorization: x`, `Authorization: token x`: here, too, it may be a sentence, so only what looks like a key. */
const byKey = new RegExp(`(${signedIn}(?:[\\w-]+\\s+)?)(?=[^\\s"']*\\d)[^\\s"',;]{8,}`, 'gi')

/** `Bearer x` */
const bearer = /(\bBearer\s+)([\w.~+/=-]+)/gi

/** `--token x`: the value is a word of its own. */
const option = new RegExp(`^--?(?:${secretName}|${vagueName})$`, 'i')
const optionValue = new RegExp(`((?:^|[\\s"'(])--?(?:${secretName}|${vagueName})\\s+)(?![-;|&])${word}`, 'gi')

/** `curl -u bob:x` */
const signIn = /((?:^|\s)(?:-u|--user|--proxy-user|--auth)[\s=]+[^\s:]+:)[^\s'"]+/g

/** `mysql -px` */
const shortPassword = /(\b(?:mysql|mariadb)[\w-]*\s(?:.*\s)?-p)[^\s'"]+/g

/** The words of a command line in one line, without what looks like a secret. */
export function commandLine(argv: readonly string[]): string {
  const words = argv.map((text, n) => (n > 0 && option.test(argv[n - 1] ?? '') ? mask : shellText(text)))
  return withoutSignIn(words.join(' '))
}

/** What a shell is given: an option that asks for a secret is followed by one, whatever it looks like. */
export function shellText(text: string): string {
  return redacted(text.replace(optionValue, `$1${mask}`))
}

/** Any text. A sentence about secrets stays as it is: where no name tells for sure, only what looks like a key goes. */
export function redacted(text: string): string {
  const named = text
    .replace(/(\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@]*:)[^\s/'"]+@/gi, `$1${mask}@`)
    .replace(byScheme, masked(isKeyLike))
    .replace(bearer, masked(isKeyLike))
    .replace(byKey, `$1${mask}`)
    .replace(assigned, masked(isSecret))
    .replace(vaguelyAssigned, masked(isKeyLike))
    .replace(member, `$1"${mask}"`)
    .replace(said, `$1${mask}`)
    .replace(optionValue, masked(isKeyLike))
  return withoutSignIn(withoutSecretFormats(named, mask))
}

/**
 * An event as it may be stored: every one goes through this, whoever tells it, as a failure may quote anything. What is
 * compared or acted upon later, as paths and refs, stays.
 */
export function withoutSecrets<E extends TaskEvent>(event: E): E {
  const said = Object.entries(event).map(([key, given]: [string, unknown]) =>
    telling.has(key) && typeof given === 'string' ? [key, redacted(given)] : [key, given],
  )
  const safe = Object.fromEntries(said) as E
  if (safe.type !== 'start.begun') return safe
  return { ...safe, task: { ...safe.task, title: redacted(safe.task.title) } }
}

/** What is said for people, in any event. */
const telling: ReadonlySet<string> = new Set(['reason', 'summary'])

const masked = (is: (value: string) => boolean) => (all: string, name: string, given: string) =>
  is(given) ? name + mask : all

const isSecret = (given: string) => !plain.test(given)

/** No word of a sentence: a digit, an equals sign, very long, or upper and lower case mixed in what is rather long. */
function isKeyLike(given: string): boolean {
  return isSecret(given) && (/[\d=]|.{16}/.test(given) || (given.length >= 12 && /[a-z][A-Z]/.test(given)))
}

function withoutSignIn(text: string): string {
  return text.replace(header, `$1${mask}`).replace(signIn, `$1${mask}`).replace(shortPassword, `$1${mask}`)
}
