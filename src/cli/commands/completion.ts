import { AppError } from '../../core/errors.ts'
import type { Answer, Command, Context } from '../command.ts'
import { commands, globalOptions } from '../commands.ts'

const scripts: Record<string, () => string> = { bash, zsh, fish }

export async function completion({ positionals }: Context): Promise<Answer> {
  const [shell = ''] = positionals
  const script = scripts[shell]?.()
  if (script === undefined) {
    const hint = `One of: ${Object.keys(scripts).join(', ')}`
    throw new AppError('WT_019', `There is no completion for ${JSON.stringify(shell)}.`, { hint })
  }
  return { json: { shell, script }, text: script }
}

/** A child cannot change the folder of the shell that started it: this function can. */
const goThere = `offshoot() {
  if [ "$1" = cd ] && [ "$2" != --help ] && [ "$2" != -h ]; then
    local there
    there="$(command offshoot "$@")" && builtin cd -- "$there"
  else
    command offshoot "$@"
  fi
}`

const tasks = `command offshoot list --json --quiet 2>/dev/null | tr ',{' '\\n\\n' | sed -n 's/^"id":"\\([^"]*\\)"$/\\1/p'`

function optionsOf(command: Command): string {
  return Object.keys({ ...globalOptions, ...command.options })
    .map((name) => `--${name}`)
    .join(' ')
}

function firstWords(): string {
  return [...new Set(commands.map(({ name }) => name.split(' ')[0]))].join(' ')
}

function wordsFor(command: Command): string {
  const words = command.completes === 'tasks' ? [`$(${tasks})`] : (command.completes ?? [])
  return [...secondWords(command.name), ...words].join(' ')
}

function secondWords(first: string): string[] {
  return commands.flatMap(({ name }) => (name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : []))
}

function bash(): string {
  const pairs = commands.flatMap(({ name }) => (name.includes(' ') ? [`"${name}"`] : []))
  const cases = commands.map((command) => {
    const words = `${optionsOf(command)} ${wordsFor(command)}`.trim()
    return `    "${command.name}") words="${words.replaceAll('"', '\\"')}" ;;`
  })
  return `# eval "$(offshoot completion bash)"
${goThere}
_offshoot() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then words="${firstWords()}"
  elif [ "$COMP_CWORD" -eq 2 ] && [ "\${COMP_WORDS[1]}" = worktree ]; then words="${secondWords('worktree').join(' ')}"
  else
    local name="\${COMP_WORDS[1]}"
    case "$name \${COMP_WORDS[2]}" in ${pairs.join('|')}) name="$name \${COMP_WORDS[2]}" ;; esac
    case "$name" in
${cases.join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _offshoot offshoot`
}

function zsh(): string {
  return `${bash().replace('completion bash', 'completion zsh').replace(`${goThere}\n`, `${goThere}\nautoload -Uz bashcompinit && bashcompinit\n`)}`
}

function fish(): string {
  const lines = commands.flatMap((command) => {
    const [first = '', second] = command.name.split(' ')
    const seen =
      second === undefined ? `__fish_seen_subcommand_from ${first}` : `__fish_seen_subcommand_from ${second}`
    const top = second === undefined ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${first}`
    const summary = command.summary.replaceAll("'", "\\'")
    return [
      `complete -c offshoot -f -n '${top}' -a ${second ?? first} -d '${summary}'`,
      ...Object.entries(command.options ?? {}).map(
        ([name, option]) =>
          `complete -c offshoot -n '${seen}' -l ${name}${option.type === 'string' ? ' -r' : ''} -d '${option.help.replaceAll("'", "\\'")}'`,
      ),
      ...(command.completes === 'tasks'
        ? [`complete -c offshoot -f -n '${seen}' -a "(${tasks.replaceAll('"', '\\"')})"`]
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
