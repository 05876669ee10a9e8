/**
 * The commands that only look: exact programs with exact options, written plainly (docs/adr/0034-commands-are-parsed.md).
 * A program or an option is left out unless it can neither write, nor start a program, nor follow a link out. Pure.
 */
import { isKnown, type ShellCommand } from '../base/shell.ts'

interface Looker {
  /** Letters that may follow one dash, several at once: `-la`. */
  readonly flags?: string
  /** Letters with a value, in the same word or in the next: `-n5`, `-n 5`. */
  readonly valued?: string
  /** Whole options, long ones and those of several letters. With `=` at the end they take any value. */
  readonly options?: readonly string[]
  /** `-5` for five lines. */
  readonly counts?: true
  /** How many of the first words are no files: the pattern of grep. */
  readonly patterns?: number
  /** These options name the pattern, so that every other word is a file. */
  readonly patternOptions?: readonly string[]
  /** At most that many words beside options. */
  readonly most?: number
  /** What each word beside options and files must look like. */
  readonly shape?: RegExp
}

const list = (words: string) => words.split(' ')

const grep: Looker = {
  flags: 'cEFGhHiIlLnoqrsvwxayP',
  valued: 'ABCem',
  options: list(
    '--ignore-case --line-number --recursive --count --word-regexp --files-with-matches --include= --exclude= ' +
      '--exclude-dir= --color= --only-matching --invert-match --fixed-strings --extended-regexp --max-count=',
  ),
  patterns: 1,
  patternOptions: ['-e'],
}

const lookers: Readonly<Record<string, Looker>> = {
  basename: { flags: 'az', valued: 's', most: 9, patterns: 9 },
  cat: { flags: 'AbeEnstTuv', options: list('--number --show-all') },
  cmp: { flags: 'bls' },
  cut: { flags: 'sz', valued: 'bcdf', options: list('--delimiter= --fields= --characters=') },
  date: { flags: 'uRI', options: ['--utc', '--iso-8601='], patterns: 1, most: 1, shape: /^\+/ },
  diff: { flags: 'ubBiwyqsa', valued: 'U', options: list('--brief --unified= --color=') },
  dirname: { flags: 'z', patterns: 9, most: 9 },
  du: { flags: 'abchkms', valued: 'd', options: list('--max-depth= --human-readable --summarize') },
  echo: { flags: 'neE', patterns: Number.POSITIVE_INFINITY },
  false: { most: 0 },
  file: { flags: 'bi', options: ['--brief', '--mime-type'] },
  grep,
  head: { flags: 'qvz', valued: 'cn', options: list('--lines= --bytes= --quiet'), counts: true },
  id: { flags: 'gGnruz', most: 0 },
  ls: {
    flags: '1aAbBcCdfFghiklmnNopqQrRsStuUvwxXZ',
    options: list(
      '--all --almost-all --color --color= --human-readable --recursive --reverse --size --sort= --time=',
    ),
  },
  pwd: { flags: 'LP', most: 0 },
  readlink: { flags: 'efmnqsvz' },
  realpath: { flags: 'emqsz' },
  rg: {
    flags: 'cFhHiIlnNoPqsSuUvwx',
    valued: 'ABCeEgjmMt',
    options: list(
      '--count --files --files-with-matches --fixed-strings --glob= --hidden --ignore-case --json --line-number ' +
        '--max-count= --max-depth= --multiline --no-heading --no-ignore --only-matching --sort= --stats --type= ' +
        '--word-regexp --color= --no-line-number --context=',
    ),
    patterns: 1,
    patternOptions: ['-e', '--files'],
  },
  sort: {
    flags: 'bcCdfghimMnrRsuVz',
    valued: 'kt',
    options: list('--key= --numeric-sort --reverse --unique'),
  },
  stat: { flags: 'ft' },
  tail: { flags: 'qvz', valued: 'cn', options: list('--lines= --bytes= --quiet'), counts: true },
  tree: {
    flags: 'aCdDfFhiJnpqrsStuUvx',
    valued: 'LIP',
    options: ['--dirsfirst', '--gitignore', '--noreport'],
  },
  true: { most: 0 },
  uname: { flags: 'amnoprsv', most: 0 },
  uniq: {
    flags: 'cdDiuz',
    valued: 'fsw',
    options: list('--count --repeated --unique'),
    most: 1,
    shape: /^[^+]/,
  },
  wc: { flags: 'clLmw', options: list('--bytes --chars --lines --words') },
  which: { flags: 'a', patterns: 9, most: 9, shape: /^[\w.-]+$/ },
  whoami: { most: 0 },
}

const commits = list(
  '--oneline --stat --shortstat --numstat --name-only --name-status --graph --all --decorate --decorate= --no-color ' +
    '--color= --patch --no-patch --follow --merges --no-merges --reverse --first-parent --pretty= --format= --abbrev-commit ' +
    '--abbrev= --date= --author= --grep= --since= --until= --after= --before= --max-count= --skip= --branches --tags ' +
    '--remotes --cached --staged --word-diff --unified= --diff-filter= --summary --minimal --check --left-right ' +
    '--cherry-pick --find-renames --no-ext-diff --no-textconv --quiet --exit-code --merge-base --raw --full-index',
)
/** `-U` takes its value in the same word alone: the word after it would be an option again. */
const commit: Looker = {
  flags: 'bipsuwzRM',
  valued: 'nLGS',
  options: [...commits, '-U0', '-U1', '-U2', '-U3', '-U5', '-U10'],
  counts: true,
}

const gitLookers: Readonly<Record<string, Looker>> = {
  blame: {
    flags: 'bcefnpstwCM',
    valued: 'L',
    options: list('--porcelain --line-porcelain --show-email --date='),
  },
  branch: { flags: 'arv', options: list('-vv --all --list --remotes --show-current --verbose'), most: 0 },
  'cat-file': { flags: 'epst' },
  describe: { options: list('--always --tags --all --long --dirty --abbrev=') },
  diff: commit,
  'diff-tree': { ...commit, flags: 'prstz' },
  log: commit,
  'ls-files': {
    flags: 'cdikmostuvz',
    options: list(
      '--cached --deleted --modified --others --ignored --stage --unmerged --exclude-standard --full-name',
    ),
  },
  'ls-tree': { flags: 'dlrtz', options: list('--name-only --full-name --full-tree --long') },
  'merge-base': { flags: 'a', options: list('--all --is-ancestor --fork-point') },
  reflog: { ...commit, most: 0 },
  'rev-list': { ...commit, options: [...commits, '--count'] },
  'rev-parse': {
    options: list(
      '--abbrev-ref --short --short= --verify --quiet --show-toplevel --show-prefix --show-cdup --git-dir ' +
        '--git-common-dir --absolute-git-dir --is-inside-work-tree --is-bare-repository --symbolic-full-name',
    ),
  },
  show: commit,
  status: {
    flags: 'bsvz',
    options: list(
      '--short --branch --porcelain --porcelain= --long --ignored --ahead-behind --show-stash -uno -uall -unormal ' +
        '--untracked-files= --no-renames',
    ),
  },
}

const findTests = new Set(list('-empty -not -o -a -or -and -print -print0 -depth -xdev -mount -prune !'))
const findPairs = new Set(
  list(
    '-name -iname -path -ipath -wholename -iwholename -type -maxdepth -mindepth -size -mtime -mmin -atime -ctime -regex ' +
      '-iregex -perm -user -group -links',
  ),
)

/** The files that it reads, beside the folder it is in; undefined where it may do more than look. */
export function lookedAt({ words, written, assigned }: ShellCommand): readonly string[] | undefined {
  const [program = '', ...rest] = words
  if (assigned.length > 0 || written[0] !== program) return undefined
  if (!words.every(isKnown) || !written.every(isPlainWord)) return undefined
  if (program === 'git') return lookedAtByGit(rest)
  if (program === 'find') return lookedAtByFind(rest)
  if (program === 'sed') return lookedAtBySed(rest)
  const looker = Object.hasOwn(lookers, program) ? lookers[program] : undefined
  return looker && filesOf(looker, rest)
}

/**
 * Letters that mean nothing to any shell; after them, or alone, any ASCII letters in single quotes, or in double ones those
 * without a meaning there. In zsh `=ls` is a path and `~x` a home: neither begins a word here.
 */
const isPlainWord = (word: string) => word !== '' && plainWord.test(word) && !word.endsWith("\\'")

const plainWord = /^(?:[\w.,/:@%+-][\w.,/:=@%+^~-]*)?(?:'[ -&(-~]*'|"[\w.,/:=@%+^ ()*?;<>|&#~[\]{}'-]*")?$/

function lookedAtByGit(words: readonly string[]): readonly string[] | undefined {
  const [verb = '', ...rest] = words[0] === '--no-pager' ? words.slice(1) : words
  const looker = Object.hasOwn(gitLookers, verb) ? gitLookers[verb] : undefined
  // %G asks a program for the signature.
  return looker && !rest.some((word) => word.includes('%G')) ? filesOf(looker, rest) : undefined
}

function lookedAtByFind(words: readonly string[]): readonly string[] | undefined {
  const at = words.findIndex((word) => /^[-!(]/.test(word))
  const [roots, tests] = at === -1 ? [words, []] : [words.slice(0, at), words.slice(at)]
  for (let n = 0; n < tests.length; n++) {
    if (findPairs.has(tests[n]!)) n++
    else if (!findTests.has(tests[n]!)) return undefined
  }
  return roots
}

/** `sed -n '1,20p' file`: its other commands can write files and start programs. */
function lookedAtBySed([option, script = '', ...files]: readonly string[]): readonly string[] | undefined {
  if (option !== '-n' || !/^\d+(?:,(?:\d+|\$))?p$/.test(script)) return undefined
  return files.some((file) => file.startsWith('-')) ? undefined : files
}

/** The words beside the options, as far as they are files; undefined where an option is not in the table. */
function filesOf(looker: Looker, words: readonly string[]): readonly string[] | undefined {
  const { patterns = 0, patternOptions = [], most = Number.POSITIVE_INFINITY, shape } = looker
  const rest: string[] = []
  let named = false
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    if (word === '--') {
      rest.push(...words.slice(at + 1))
      break
    }
    const taken = word.startsWith('-') && word !== '-' ? wordsOfOption(looker, word) : 0
    if (taken === undefined) return undefined
    if (taken === 0) rest.push(word)
    else at += taken - 1
    named ||= patternOptions.some((option) => isAmong(option, word))
  }
  if (rest.length > most || (shape && !rest.every((word) => shape.test(word)))) return undefined
  return rest.slice(named ? 0 : patterns)
}

/** `-e`, also as one of several letters. To find it where it is none only makes a file of the pattern. */
const isAmong = (option: string, word: string) =>
  word === option || (option.length === 2 && /^-[^-]/.test(word) && word.includes(option.slice(1)))

/** How many words the option takes, itself included; undefined for one that is not in the table. */
function wordsOfOption(looker: Looker, word: string): number | undefined {
  const { flags = '', valued = '', options = [], counts } = looker
  if (options.includes(word) || options.some((option) => option.endsWith('=') && word.startsWith(option)))
    return 1
  if (word.startsWith('--')) return undefined
  if (counts && /^-\d+$/.test(word)) return 1
  const letters = word.slice(1)
  const at = letters.split('').findIndex((letter) => valued.includes(letter))
  const before = at === -1 ? letters : letters.slice(0, at)
  if (!before.split('').every((letter) => flags.includes(letter))) return undefined
  return at !== -1 && at === letters.length - 1 ? 2 : 1
}
