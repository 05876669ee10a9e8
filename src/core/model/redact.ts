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

/** Near: else each of many names in a row would look through all the others. */
const hasDigit = `(?=[^\\s"']{0,200}\\d)`

/** `password: x`: often this is a sentence, so only a value that looks like a key counts. */
const said = new RegExp(`(${begins}(?:${secretName}|${vagueName}):\\s*)${hasDigit}[^\\s"',;]{8,}`, 'gi')

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
const byKey = new RegExp(`(${signedIn}(?:[\\w-]+\\s+)?)${hasDigit}[^\\s"',;]{8,}`, 'gi')

/** `Bearer x` */
const bearer = /(\bBearer\s+)([\w.~+/=-]+)/gi

/** `--token x`: the value is a word of its own. */
const option = new RegExp(`^--?(?:${secretName}|${vagueName})$`, 'i')
const optionValue = new RegExp(`((?:^|[\\s"'(])--?(?:${secretName}|${vagueName})\\s+)(?![-;|&])${word}`, 'gi')

/** `curl -u bob:x` */
const signIn = /((?:^|\s)(?:-u|--user|--proxy-user|--auth)[\s=]+[^\s:=][^\s:]*:)[^\s'"]+/g

/** `mysql -px` */
const shortPassword = /(\b(?:mysql|mariadb)[\w-]{0,20}\s(?:[^\n]{0,400}\s)?-p)[^\s'"]+/g

/** Programs that take a password by a short option, which means something else to other programs. */
const passwordOptions: readonly { readonly program: string; readonly flag: string }[] = [
  { program: 'sshpass', flag: '-p' },
  { program: 'redis-cli', flag: '-a' },
  { program: '(?:docker|podman|nerdctl|buildah|skopeo|crane|oras|az)\\s+login', flag: '-p' },
  { program: '(?:helm|oras)\\s+registry\\s+login', flag: '-p' },
  { program: '(?:mongo|mongosh|mongodump|mongorestore|twine\\s+upload)', flag: '-p' },
  { program: 'ldap(?:search|add|modify|delete|passwd|whoami)', flag: '-w' },
  { program: '(?:zip|unzip|zipcloak|sqlcmd|bcp)', flag: '-P' },
  { program: '7za?\\s+[axet]', flag: '-p' },
  { program: 'doctl', flag: '-t' },
]

/** `sshpass -p x`, `docker login -u bob -p x`. How far the option may be is bounded, to keep the search linear. */
const byProgram = passwordOptions.map(
  ({ program, flag }) =>
    new RegExp(
      `(\\b${program}\\b[^\\n;|&]{0,400}?\\s${flag}[\\s=]*)("[^"\\n]*"|'[^'\\n]*'|[^\\s"';|&-][^\\s"';|&]*)`,
      'g',
    ),
)

/** `set aws_secret_access_key x`, `config set …:_authToken x`: the value is a word of its own. */
const setting = new RegExp(`(\\b(?:set|add|put)\\s+\\S{0,200}?${secretName}\\s+)${word}`, 'gi')

/** `openssl … -passin pass:x` */
const passArgument = /(\s-pass(?:in|out)?[\s=]+["']?pass:)[^\s"']+/g

/** `smbclient -U bob%x` */
const percentSignIn = /(\s-U\s*["']?[^\s%"']{1,100}%)[^\s"']+/g

/** `echo x | docker login --password-stdin`, `echo x | sudo -S …` */
const piped =
  /(\b(?:echo|printf)\s+(?:-\w+\s+)?)("[^"\n]{1,300}"|'[^'\n]{1,300}'|[^\s"'|]{1,300})(?=\s*\|\s*(?:sudo\s+-S|[^|\n]{0,300}(?:--password-stdin|--with-token|--passphrase-fd)))/g

/** `Cookie: session=x`: the whole line, because any cookie may be a session. */
const cookie = /(\b(?:set-)?cookie["']?\s*:\s*["']?)(?=[^\s=;"']{1,100}=)[^\n"']+/gi

/** `?sig=x`, `&X-Amz-Signature=x`: who has such an address needs no other secret. */
const signature = /([?&](?:sig|signature|x-amz-(?:signature|security-token)|x-goog-signature)=)[^\s&"']+/gi

/** `https://x@host`: a token in the place of a user's name. */
const addressToken = /(\bhttps?:\/\/)([^\s/:@'"]{8,})(?=@)/gi

/** `kubectl create secret … --from-literal=name=x` */
const literal = /(--from-literal[=\s]+["']?[\w.-]{1,100}=)[^\s"']+/g

/** A command line as one line of text, with secrets masked. */
export function commandLine(argv: readonly string[]): string {
  const words = argv.map((text, n) => (n > 0 && option.test(argv[n - 1] ?? '') ? mask : shellText(text)))
  return withoutSignIn(words.join(' ').replace(setting, `$1${mask}`))
}

/** A command for a shell: the word after an option such as `--token` is masked, whatever it looks like. */
export function shellText(text: string): string {
  return redacted(text.replace(optionValue, `$1${mask}`).replace(setting, `$1${mask}`))
}

/** Any text. A sentence about secrets stays as it is: after a vague name only a value that looks like a key is masked. */
export function redacted(text: string): string {
  const named = text
    .replace(/(\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@]*:)[^\s/'"]+@/gi, `$1${mask}@`)
    .replace(addressToken, maskIf(isKeyLike))
    .replace(signature, `$1${mask}`)
    .replace(byScheme, maskIf(isKeyLike))
    .replace(bearer, maskIf(isKeyLike))
    .replace(byKey, `$1${mask}`)
    .replace(assigned, maskIf(isSecret))
    .replace(vaguelyAssigned, maskIf(isKeyLike))
    .replace(member, `$1"${mask}"`)
    .replace(said, `$1${mask}`)
    .replace(optionValue, maskIf(isKeyLike))
    .replace(setting, maskIf(isKeyLike))
  return withoutSignIn(withoutSecretFormats(named, mask))
}

/**
 * An event as it may be stored. Every event goes through this, because a reason may quote anything. Only texts for people
 * are masked: paths and refs, which code compares or acts upon later, stay.
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

const signIns = [
  header,
  cookie,
  signIn,
  shortPassword,
  passArgument,
  percentSignIn,
  piped,
  literal,
  ...byProgram,
]

function withoutSignIn(text: string): string {
  return signIns.reduce((rest, pattern) => rest.replace(pattern, `$1${mask}`), text)
}
