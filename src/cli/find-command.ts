/** The command that the first words of a line name, in a table of commands. */
import { nearest } from '../core/base/did-you-mean.ts'
import { quoted } from '../core/base/shell-quote.ts'
import { AppError } from '../core/model/errors.ts'
import type { Command } from './command.ts'

/** The command of these words; undefined when there are none. `line` is all that was typed, for the hint to say it again. */
export function findMeant(
  commands: readonly Command[],
  words: readonly string[],
  line: readonly string[] = words,
): Command | undefined {
  const command =
    commands.find(({ name }) => name === words.slice(0, 2).join(' ')) ??
    commands.find(({ name }) => name === words[0]) ??
    (words.length === 1 ? findGroup(commands, words[0] ?? '') : undefined)
  if (!command && words.length > 0) throw unknownCommand(commands, words, line)
  return command
}

/** `worktree`, which is no command but begins several; it has help, and nothing to do. */
function findGroup(commands: readonly Command[], first: string): Command | undefined {
  const members = commands.filter(({ name }) => name.startsWith(`${first} `))
  const [one] = members
  if (!one) return undefined
  const names = members.map(({ name }) => name)
  return {
    name: first,
    summary: `Commands that begin with ${first}`,
    group: one.group,
    args: [],
    options: {},
    examples: members.flatMap(({ examples }) => examples.slice(0, 1)),
    members,
    load: async () => {
      throw new AppError('wrongUsage', `\`${first}\` is only the beginning of a command.`, {
        hint: `Give one of: ${names.join(', ')}; offshoot ${first} --help explains them.`,
      })
    },
  }
}

function unknownCommand(
  commands: readonly Command[],
  words: readonly string[],
  line: readonly string[],
): AppError {
  const group = commands.some(({ name }) => name.startsWith(`${words[0]} `))
  const wanted = words.slice(0, group ? 2 : 1)
  const name = wanted.join(' ')
  return new AppError('wrongUsage', `Unknown command ${JSON.stringify(name)}.`, {
    hint: discards.has(name) ? discardHint(words[1]) : nearHint(commands, wanted, line),
  })
}

/** Words of other tools that give something up: here there are three ways. */
const discards: ReadonlySet<string> = new Set(['rm', 'remove', 'discard'])

function discardHint(task: string | undefined): string {
  const named = task === undefined ? '' : ` ${quoted(task)}`
  return `Did you mean: offshoot reject${named} (gives the work up), offshoot delete${named} (also hides the task), or offshoot worktree remove${named}`
}

function nearHint(commands: readonly Command[], wanted: readonly string[], line: readonly string[]): string {
  const name = wanted.join(' ')
  const known = commands.map((command) => command.name)
  const near = habits[name] ?? nearest(name, known)
  if (near === undefined) return 'offshoot --help lists the commands.'
  const at = line.indexOf(wanted[0] ?? '')
  const meant = [...line.slice(0, at).map(quoted), near, ...line.slice(at + wanted.length).map(quoted)]
  return `Did you mean: offshoot ${meant.join(' ')}`
}

/** Words of other tools, and the commands that do the same here. */
const habits: Readonly<Record<string, string>> = {
  ls: 'list',
  merge: 'accept',
  apply: 'accept',
  land: 'accept',
}
