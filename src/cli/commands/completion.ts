/** `completion SHELL`: scripts that complete commands, flags and their values, made from the table of commands. */
import type { Suggestions } from '../../actions/action.ts'
import { type Answer, type Command, type Context, globalOptions, type Option } from '../command.ts'
import { branchRefs } from '../../core/model/refs.ts'

const scripts: Record<string, (commands: readonly Command[]) => string> = { bash, zsh, fish }

/** The table of commands hands itself in: completion is one of its rows. */
export function completionOf(commands: readonly Command[]): (context: Context) => Promise<Answer> {
  return async ({ positionals }) => {
    const [shell = ''] = positionals
    const script = scripts[shell]?.(commands) ?? ''
    return { json: { shell, script }, text: script }
  }
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

/** Commands that print the words which only this machine and repository know. */
const listing = {
  tasks: `command offshoot list --json --quiet 2>/dev/null | tr ',{' '\\n\\n' | sed -n 's/^"id":"\\([^"]*\\)"$/\\1/p'`,
  agents: `command offshoot agents --json --quiet 2>/dev/null | tr ',{' '\\n\\n' | sed -n 's/^"name":"\\([^"]*\\)"$/\\1/p'`,
  branches: `command git for-each-ref --format='%(refname:short)' ${branchRefs} refs/tags 2>/dev/null`,
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

function firstWords(commands: readonly Command[]): string {
  return [...new Set(commands.map(({ name }) => name.split(' ')[0]))].join(' ')
}

function secondWords(commands: readonly Command[], first: string): string[] {
  return commands.flatMap(({ name }) => (name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : []))
}

function bash(commands: readonly Command[]): string {
  const pairs = commands.flatMap(({ name }) => (name.includes(' ') ? [`"${name}"`] : []))
  const words = commands.map((command) => {
    const flags = optionsOf(command).map(([name]) => `--${name}`)
    const own = [...flags, ...secondWords(commands, command.name), ...command.args.slice(0, 1).map(wordsOf)]
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
  if [ "$COMP_CWORD" -eq 1 ]; then words="${firstWords(commands)}"
  elif [ "$COMP_CWORD" -eq 2 ] && [ "\${COMP_WORDS[1]}" = worktree ]; then words="${secondWords(commands, 'worktree').join(' ')}"
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

/** Without `compinit` there is no `compdef`, which `complete` needs; -i asks nothing about folders that others can write. */
const zshInit = `(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }
autoload -Uz bashcompinit && bashcompinit`

function zsh(commands: readonly Command[]): string {
  return `${bash(commands).replace('completion bash', 'completion zsh').replace(`${goThere}\n`, `${goThere}\n${zshInit}\n`)}`
}

/** Fish reads a list of words between double quotes, or the output of a command in brackets. */
function fishWords(about: { values?: readonly string[]; suggests?: Suggestions }): string {
  const { suggests = about.values } = about
  if (typeof suggests !== 'string') return suggests === undefined ? '' : ` -f -a "${suggests.join(' ')}"`
  return ` -f -a "(${listing[suggests].replaceAll('"', '\\"')})"`
}

function fish(commands: readonly Command[]): string {
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
