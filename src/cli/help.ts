/** The text of `--help`: the overview of all commands, and the help of one. */
import { type Group, groups } from '../actions/action.ts'
import { type Command, globalOptions, type Option, usageOf } from './command.ts'
import { plainTable } from './output.ts'

/** Every command once, in groups. */
export function overview(commands: readonly Command[]): string {
  const own = commands.filter(({ aliasOf }) => aliasOf === undefined)
  // One table for all groups, so that their columns line up.
  const lines = plainTable(own.map(({ name, summary }) => [`  ${name}`, summary])).split('\n')
  const section = (group: Group) => lines.filter((_, at) => own[at]?.group === group)
  return [
    'offshoot: Undo for coding agents.',
    '',
    'Usage: offshoot <command> [options]; offshoot alone shows the tasks that wait for you',
    ...Object.entries(groups).flatMap(([group, title]) => ['', `${title}:`, ...section(group as Group)]),
    '',
    'Options of every command:',
    optionTable(globalOptions),
    '',
    'TASK is an id; `-` is the last task, `@` the one of this folder.',
    aliasLine(commands),
    'offshoot help <command> shows its options and examples.',
  ].join('\n')
}

/** `worktree create, show, prune: the same as start, show, prune` */
function aliasLine(commands: readonly Command[]): string {
  const found = commands.flatMap(({ name, aliasOf }) => (aliasOf === undefined ? [] : [{ name, aliasOf }]))
  const [group = ''] = found[0]?.name.split(' ') ?? []
  const seconds = found.map(({ name }) => name.slice(group.length + 1)).join(', ')
  return `${group} ${seconds}: the same as ${found.map(({ aliasOf }) => aliasOf).join(', ')}`
}

export function commandHelp(command: Command): string {
  const { members = [] } = command
  const hasOptions = Object.keys(command.options).length > 0 || members.length > 0
  const usage = members.length > 0 ? `${command.name} <command>` : usageOf(command)
  return [
    command.aliasOf === undefined ? command.summary : `The same as ${command.aliasOf}: ${command.summary}`,
    '',
    `Usage: offshoot ${usage}${hasOptions ? ' [options]' : ''}`,
    ...(members.length > 0 ? ['', 'Commands:', memberTable(members)] : []),
    ...(hasOptions && members.length === 0 ? ['', 'Options:', optionTable(command.options)] : []),
    '',
    'Options of every command:',
    optionTable(globalOptions),
    '',
    'Examples:',
    ...command.examples.map((example) => `  ${example}`),
  ].join('\n')
}

function memberTable(members: readonly Command[]): string {
  return plainTable(members.map(({ name, summary }) => [`  ${name}`, summary]))
}

function optionTable(options: Readonly<Record<string, Option>>): string {
  return plainTable(
    Object.entries(options).map(([name, option]) => {
      const short = option.short === undefined ? '    ' : `-${option.short}, `
      return [`  ${short}--${name}${option.value === undefined ? '' : ` ${option.value}`}`, option.help]
    }),
  )
}
