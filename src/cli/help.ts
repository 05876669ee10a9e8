import type { Command, Option } from './command.ts'
import { commands, globalOptions } from './commands.ts'
import { table } from './output.ts'

export function overview(): string {
  return [
    'offshoot: every agent in its own worktree, and nothing is ever lost',
    '',
    'Usage: offshoot <command> [options]; offshoot alone tells what waits for you here',
    '',
    table(commands.map(({ name, summary }) => [`  ${name}`, summary])),
    '',
    'Options of every command:',
    optionTable(globalOptions),
    '',
    'offshoot <command> --help tells more about one of them.',
  ].join('\n')
}

export function commandHelp(command: Command): string {
  const usage = ['offshoot', command.name, command.args, command.options && '[options]']
    .filter(Boolean)
    .join(' ')
  return [
    command.summary,
    '',
    `Usage: ${usage}`,
    ...(command.options ? ['', 'Options:', optionTable(command.options)] : []),
    '',
    'Options of every command:',
    optionTable(globalOptions),
    '',
    'Examples:',
    ...command.examples.map((example) => `  ${example}`),
  ].join('\n')
}

function optionTable(options: Readonly<Record<string, Option>>): string {
  return table(
    Object.entries(options).map(([name, option]) => {
      const short = option.short === undefined ? '    ' : `-${option.short}, `
      return [`  ${short}--${name}${option.value === undefined ? '' : ` ${option.value}`}`, option.help]
    }),
  )
}
