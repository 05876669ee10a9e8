/** Masks secrets in texts before they are stored, because command lines end up in steps, commits and the audit log. */
import type { TaskEvent } from './events.ts'
import { withoutSecretFormats } from './secrets.ts'

const mask = '***'

/** `pass` and `pwd` only as a word of its own: not `bypass`, and not `PWD`, the folder. */
const secretName =
  '(?:[\\w-]*(?:password|passwd|passphrase|secret|token|(?:api|access|secret|private|signing|encryption)[_-]?key|credentials?)' +
  '|(?:[\\w-]*[_-])?pass|[\\w-]*[_-]pwd)'

/** The beginning of a name. Without it the pattern is tried at each character of a long name, in quadratic time. */
const begins = '(?<![\\w-])'

/** A vague name, because its value is often no secret: `auth=none`. */
const vagueName = '[\\w-]*auth'

const value = `("[^"]*"|'[^']*'|\\S+)`
const word = `("[^"]*"|'[^']*'|[^\\s"';|&]+)`

/** Values that are never a secret, whatever their name. */
const plain = /^["']?(?:none|null|nil|undefined|true|false|yes|no|on|off|\d{1,3})["']?[,;)}\]]*$/i

/** `--token=x`, `API_KEY=x` */
const assigned = new RegExp(`(${begins}${secretName}=)${value}`, 'gi')

const vaguelyAssigned = new RegExp(`(${begins}${vagueName}=)${value}`, 'gi')

/** `"token": "x"` */
const member = new RegExp(`((["'])${secretName}\\2\\s*:\\s*)("[^"]*"|'[^']*')`, 'gi')

/** `password: x`: often this is a sentence, so only a value that looks like a key counts. */
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

/** `Authorization: x`, `Authorization: token x`: it may be a sentence, so only a value that looks like a key counts. */
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

/** A command line as one line of text, with secrets maskIf. */
export function commandLine(argv: readonly string[]): string {
  const words = argv.map((text, n) => (n > 0 && option.test(argv[n - 1] ?? '') ? mask : shellText(text)))
  return withoutSignIn(words.join(' '))
}

/** A command for a shell: the word after an option such as `--token` is maskIf, whatever it looks like. */
export function shellText(text: string): string {
  return redacted(text.replace(optionValue, `$1${mask}`))
}

/** Any text. A sentence about secrets stays as it is: after a vague name only a value that looks like a key is maskIf. */
export function redacted(text: string): string {
  const named = text
    .replace(/(\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@]*:)[^\s/'"]+@/gi, `$1${mask}@`)
    .replace(byScheme, maskIf(isKeyLike))
    .replace(bearer, maskIf(isKeyLike))
    .replace(byKey, `$1${mask}`)
    .replace(assigned, maskIf(isSecret))
    .replace(vaguelyAssigned, maskIf(isKeyLike))
    .replace(member, `$1"${mask}"`)
    .replace(said, `$1${mask}`)
    .replace(optionValue, maskIf(isKeyLike))
  return withoutSignIn(withoutSecretFormats(named, mask))
}

/**
 * An event as it may be stored. Every event goes through this, because a reason may quote anything. Only texts for people
 * are maskIf: paths and refs, which code compares or acts upon later, stay.
 */
export function withoutSecrets<E extends TaskEvent>(event: E): E {
  const said = Object.entries(event).map(([key, given]: [string, unknown]) =>
    telling.has(key) && typeof given === 'string' ? [key, redacted(given)] : [key, given],
  )
  const safe = Object.fromEntries(said) as E
  if (safe.type !== 'start.begun') return safe
  return { ...safe, task: { ...safe.task, title: redacted(safe.task.title) } }
}

/** The fields of events that are written for people. */
const telling: ReadonlySet<string> = new Set(['reason', 'summary', 'input'])

const maskIf = (is: (value: string) => boolean) => (all: string, name: string, given: string) =>
  is(given) ? name + mask : all

const isSecret = (given: string) => !plain.test(given) && !given.startsWith(mask)

/** Unlike a word of a sentence: it has a digit or `=`, or 16 characters, or 12 and a capital after a small letter. */
function isKeyLike(given: string): boolean {
  return isSecret(given) && (/[\d=]|.{16}/.test(given) || (given.length >= 12 && /[a-z][A-Z]/.test(given)))
}

function withoutSignIn(text: string): string {
  return text.replace(header, `$1${mask}`).replace(signIn, `$1${mask}`).replace(shortPassword, `$1${mask}`)
}
