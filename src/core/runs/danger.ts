/** Recognizes dangerous commands, each with its reason. A program can do harm in more ways: this is no security boundary. */
import { hole, type ShellCommand, type ShellRedirect } from '../base/shell.ts'
import {
  isInside,
  type PolicyPlace,
  type RealPaths,
  realEntry,
  realOf,
  shown,
  type Trouble,
  troubleOfRead,
  troubleOfWrite,
} from './places.ts'
import { overfull, programOf, type ShellRuns, shells, startsAt } from './shell-runs.ts'

type Rule = (words: readonly string[]) => boolean

const setOf = (words: string) => new Set(words.split(' '))
const always: Rule = () => true
const has =
  (option: RegExp): Rule =>
  (words) =>
    words.some((word) => option.test(word))
const verbs =
  (fit: (one: string, other: string) => boolean): Rule =>
  (words) =>
    startsAt(words).some((at) => fit(words[at] ?? '', words[at + 1] ?? ''))

/** Whether one of these is the subcommand, whatever options stand before it. */
const verb = (names: string): Rule => {
  const known = setOf(names)
  return verbs((one) => known.has(one))
}

const rules: readonly { readonly programs: string; readonly if: Rule; readonly reason: string }[] = [
  { programs: 'sudo doas su pkexec runuser', if: always, reason: 'it asks for the rights of another user' },
  {
    programs: 'mkfs wipefs fdisk sfdisk gdisk parted mkswap blkdiscard',
    if: always,
    reason: 'it writes to a disk',
  },
  { programs: 'dd', if: has(/^of=\/dev\/(?!null$|zero$|std|fd\/)/), reason: 'it writes to a disk' },
  { programs: 'shutdown reboot halt poweroff', if: always, reason: 'it stops the machine' },
  { programs: 'systemctl', if: verb('poweroff reboot halt kexec'), reason: 'it stops the machine' },
  { programs: 'git', if: verb('push send-pack send-email'), reason: 'it sends work to another repository' },
  {
    programs: 'git',
    if: verbs((one, other) => (/^(?:subtree|lfs)$/.test(one) && other === 'push') || other === 'dcommit'),
    reason: 'it sends work to another repository',
  },
  {
    programs: 'gh glab',
    if: verbs(
      (one, other) => one === 'api' || /^(?:create|edit|upload|merge|comment|review|delete)$/.test(other),
    ),
    reason: 'it sends work to other people',
  },
  {
    programs: 'yarn',
    if: verbs((one, other) => one === 'npm' && other === 'publish'),
    reason: 'it sends work to other people',
  },
  {
    programs: 'npm pnpm yarn bun cargo poetry uv gem docker podman twine flit hatch vsce',
    if: verb('publish push upload'),
    reason: 'it sends work to other people',
  },
  {
    programs: 'curl',
    if: has(/^(?:-[A-Za-z]*[dFT]|--(?:data|form|upload-file|json|url-query))/),
    reason: 'it sends data to the network',
  },
  { programs: 'wget', if: has(/^--(?:post|body)-|^--method/), reason: 'it sends data to the network' },
  {
    programs: 'scp sftp ftp nc ncat netcat telnet socat ssh rcp tftp',
    if: always,
    reason: 'it sends data to the network',
  },
  { programs: 'rsync', if: has(/^[^/-][^/]*:/), reason: 'it sends data to the network' },
  {
    programs: 'crontab at batch launchctl systemd-run',
    if: (words) => words.join() !== '-l',
    reason: 'it starts something that outlives the run',
  },
  {
    programs: 'git',
    if: (words) =>
      verb('config')(words) && has(/^--(?:global|system)$/)(words) && !has(/^(?:-l|--(?:get|list))/)(words),
    reason: 'it changes your settings of git',
  },
]

const rulesOf = Map.groupBy(
  rules.flatMap((rule) => rule.programs.split(' ').map((program) => ({ program, ...rule }))),
  ({ program }) => program,
)

/** Why this command line should not run, or undefined. */
export function dangerOf(runs: ShellRuns, place: PolicyPlace, real: RealPaths): Trouble | undefined {
  if (runs.line.endless) return { reason: 'it starts processes without end' }
  if (loadsAndRuns(runs)) return { reason: 'it runs what it loads from the network' }
  for (const command of runs.commands) {
    const trouble = dangerOfCommand(command, place, real)
    if (trouble) return trouble
  }
  return runs.overfull ? { reason: overfull, open: true } : undefined
}

function dangerOfCommand(command: ShellCommand, place: PolicyPlace, real: RealPaths): Trouble | undefined {
  const [program, words] = [programOf(command), command.words.slice(1)]
  const rule = rulesOf.get(program.replace(/^mkfs\..*/, 'mkfs'))?.find((one) => one.if(words))
  if (rule) return { reason: rule.reason }
  return (
    first(command.redirects, (redirect) => troubleOfRedirect(redirect, place, real)) ??
    first(namedFiles(words), (word) => troubleOfRead(word, place, real)) ??
    first(writtenBy(program, words), (word) => troubleOfChange(program, word, place, real))
  )
}

function first<T>(items: readonly T[], find: (item: T) => Trouble | undefined): Trouble | undefined {
  for (const item of items) {
    const found = find(item)
    if (found) return found
  }
  return undefined
}

const interpreters = /^(?:python|perl|ruby|node|deno|bun|php|lua)[\d.]*$/
const loaders = setOf('curl wget fetch aria2c http https')

/** `curl … | sh`, `sh <(curl …)`, `eval "$(curl …)"`. */
function loadsAndRuns({ commands }: ShellRuns): boolean {
  if (!commands.some((command) => loaders.has(programOf(command)))) return false
  return commands.some(({ words, piped }) => {
    const program = programOf({ words })
    const rest = words.slice(1)
    const made = rest.some((word) => word.includes(hole.any))
    if (program === 'eval' || program === 'source' || program === '.') return made
    const runs = shells.has(program) || interpreters.test(program)
    return runs && (made || (piped && rest.every(isOption)))
  })
}

/** Files that may follow a `=` or stand alone: `of=x`, `--file=x`, `@x`. */
const namedFiles = (words: readonly string[]) =>
  words.flatMap((word) => [
    word,
    ...(/^[\w-]+=(.+)$/s.exec(word)?.slice(1) ?? []),
    word.replace(/^[^/~]*@/, ''),
  ])

const outputs = /^(?:&?>|>\||>&|<>|&>>|>>)/

function troubleOfRedirect(
  { operator, target }: ShellRedirect,
  place: PolicyPlace,
  real: RealPaths,
): Trouble | undefined {
  if (operator.startsWith('<<')) return undefined
  if (/^\/dev\/(?:tcp|udp)\//.test(target)) return { reason: 'it sends data to the network' }
  if (!outputs.test(operator)) return troubleOfRead(target, place, real)
  if (/^\d*-?$/.test(target) || isStream(target)) return undefined
  if (target.startsWith('/dev/')) return { reason: 'it writes to a disk' }
  return troubleOfChange('>', target, place, real)
}

export const isStream = (file: string) => /^\/dev\/(?:null|zero|stdout|stderr|stdin|tty|fd\/\d+)$/.test(file)

const isOption = (word: string) => word.startsWith('-')

/** The words of a command that name files it writes or deletes. */
function writtenBy(program: string, words: readonly string[]): readonly string[] {
  const files = words.filter((word) => !isOption(word))
  switch (program) {
    case 'rm':
    case 'rmdir':
    case 'unlink':
    case 'shred':
    case 'tee':
    case 'touch':
    case 'truncate':
    case 'mkdir':
    case 'mv':
      return files
    case 'cp':
    case 'ln':
    case 'install':
    case 'rsync':
      return files.length > 1 ? [files.at(-1)!, ...targetFolder(words)] : targetFolder(words)
    case 'dd':
      return words.flatMap((word) => (word.startsWith('of=') ? [word.slice(3)] : []))
    default:
      return []
  }
}

const targetFolder = (words: readonly string[]) =>
  words.flatMap((word, at) =>
    word === '-t' ? (words[at + 1] ?? []) : word.startsWith('--target-directory=') ? word.slice(19) : [],
  )

/** What cannot be known is asked about where files are deleted. */
function troubleOfChange(
  program: string,
  word: string,
  place: PolicyPlace,
  real: RealPaths,
): Trouble | undefined {
  if (isStream(word)) return undefined
  const deletes = deleters.has(program)
  if (word.includes(hole.any)) {
    if (!deletes) return undefined
    return { reason: `it deletes ${shown(word)}, and nobody can tell what that is`, open: true }
  }
  // Deleting or moving a link leaves what it leads to.
  const full = deletes || program === 'mv' ? realEntry(word, place, real) : realOf(word, place, real)
  const does = deletes ? 'deletes' : 'writes to'
  if (!isInside(full, place)) return { reason: `it ${does} ${shown(word)}, outside of the workspace` }
  if (deletes && full === place.workspace) return { reason: 'it deletes the workspace' }
  return program === 'mkdir' ? undefined : troubleOfWrite(word, place, new Map([[word, full]]))
}

const deleters = setOf('rm rmdir unlink shred')
