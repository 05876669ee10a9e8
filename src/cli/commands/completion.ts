/** `completion SHELL`: scripts that complete commands, flags and their values, made from the table of commands. */
import type { Suggestions } from '../../actions/action.ts'
import type { Answer, Command, Context, Option } from '../command.ts'
import { commands, globalOptions } from '../commands.ts'

const scripts: Record<string, () => string> = { bash, zsh, fish }

export async function completion({ positionals }: Context): Promise<Answer> {
  const [shell = ''] = positionals
  const script = scripts[shell]?.() ?? ''
  return { json: { shell, script }, text: script }
}

/** A function of the shell, because a child process cannot change its parent's folder. */
const goThere = `offshoot() {
  if [ "$1" = cd ] && [ "$2" != --help ] && [ "$2" != -h ]; then
    local there
    there="$(command offshoot "$@")" && builtin cd -- "$there"
  else
    command offshoot "$@"
  fi
}`

/** Commands that print words of the repository: its tasks, its branches. */
const listing = {
  tasks: `command offshoot list --json --quiet 2>/dev/null | tr ',{' '\\n\\n' | sed -n 's/^"id":"\\([^"]*\\)"$/\\1/p'`,
  branches: `command git for-each-ref --format='%(refname:short)' refs/heads refs/tags 2>/dev/null`,
}

/** The words for a value, as bash reads them between double quotes. */
function wordsOf({
  values,
  suggests = values,
}: {
  values?: readonly string[]
  suggests?: Suggestions
}): string {
  if (suggests === undefined) return ''
  if (typeof suggests !== 'string') return suggests.join(' ')
  return `$(${listing[suggests]})`.replaceAll('"', '\\"')
}

function flagsOf({ name, short }: { name: string; short?: string | undefined }): string[] {
  return [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]
}

const optionsOf = (command: Command): [string, Option][] =>
  Object.entries({ ...command.options, ...globalOptions })

function firstWords(): string {
  return [...new Set(commands.map(({ name }) => name.split(' ')[0]))].join(' ')
}

function secondWords(first: string): string[] {
  return commands.flatMap(({ name }) => (name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : []))
}

function bash(): string {
  const pairs = commands.flatMap(({ name }) => (name.includes(' ') ? [`"${name}"`] : []))
  const words = commands.map((command) => {
    const flags = optionsOf(command).map(([name]) => `--${name}`)
    const own = [...flags, ...secondWords(command.name), ...command.args.slice(0, 1).map(wordsOf)]
    return `    "${command.name}") words="${own.join(' ').trim()}" ;;`
  })
  const values = commands.flatMap((command) =>
    optionsOf(command).flatMap(([name, option]) => {
      const offered = wordsOf(option)
      if (offered === '') return []
      const typed = flagsOf({ name, short: option.short }).map((flag) => `"${command.name} ${flag}"`)
      return [`    ${typed.join('|')}) words="${offered}" ;;`]
    }),
  )
  return `# eval "$(offshoot completion bash)"
${goThere}
_offshoot() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then words="${firstWords()}"
  elif [ "$COMP_CWORD" -eq 2 ] && [ "\${COMP_WORDS[1]}" = worktree ]; then words="${secondWords('worktree').join(' ')}"
  else
    local name="\${COMP_WORDS[1]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
    case "$name \${COMP_WORDS[2]}" in ${pairs.join('|')}) name="$name \${COMP_WORDS[2]}" ;; esac
    case "$name $before" in
${values.join('\n')}
    *) case "$name" in
${words.join('\n')}
    esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _offshoot offshoot`
}

function zsh(): string {
  return `${bash().replace('completion bash', 'completion zsh').replace(`${goThere}\n`, `${goThere}\nautoload -Uz bashcompinit && bashcompinit\n`)}`
}

/** Fish reads a list of words between double quotes, or the output of a command in brackets. */
function fishWords(about: { values?: readonly string[]; suggests?: Suggestions }): string {
  const { suggests = about.values } = about
  if (typeof suggests !== 'string') return suggests === undefined ? '' : ` -f -a "${suggests.join(' ')}"`
  return ` -f -a "(${listing[suggests].replaceAll('"', '\\"')})"`
}

function fish(): string {
  const quote = (words: string) => `'${words.replaceAll("'", "\\'")}'`
  const lines = commands.flatMap((command) => {
    const [first = '', second] = command.name.split(' ')
    const seen = `__fish_seen_subcommand_from ${second ?? first}`
    const top = second === undefined ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${first}`
    const [argument] = command.args
    return [
      `complete -c offshoot -f -n '${top}' -a ${second ?? first} -d ${quote(command.summary)}`,
      ...Object.entries(command.options).map(([name, option]) => {
        const short = option.short === undefined ? '' : ` -s ${option.short}`
        const value = option.type === 'string' ? ` -r${fishWords(option)}` : ''
        return `complete -c offshoot -n '${seen}' -l ${name}${short}${value} -d ${quote(option.help)}`
      }),
      ...(argument && fishWords(argument) !== ''
        ? [`complete -c offshoot -n '${seen}'${fishWords(argument)}`]
        : []),
    ]
  })
  return `# offshoot completion fish | source
function offshoot
  if test "$argv[1]" = cd; and not contains -- "$argv[2]" --help -h
    set -l there (command offshoot $argv); and builtin cd -- $there
  else
    command offshoot $argv
  end
end
${lines.join('\n')}`
}
