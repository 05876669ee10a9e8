/** The slash commands of offshoot, which a user types to the agent in a workspace. Pure. */
import type { SlashCommand } from '../model/agent.ts'
import type { Agent } from '../ports/agent.ts'

const decided = (verb: string, fate: string, what: string): SlashCommand => ({
  name: `${verb}-session`,
  summary: `${what} (offshoot ${verb})`,
  byUser: true,
  prompt: [
    `The user wants to ${verb} the work of this task. That is for the user alone to decide.`,
    '',
    `1. Run \`offshoot diff --stat\`, and tell the user in a few lines what would ${fate}.`,
    `2. Run \`offshoot ${verb}\`, once. If it is refused with WT_017, offshoot has told the user that you want it: say`,
    `   that they can run \`offshoot ${verb}\` in a terminal of their own, with the name of the task that it prints.`,
    '3. Do not try another way, and do not change the repository of the user by hand.',
  ].join('\n'),
})

const slashCommands: readonly SlashCommand[] = [
  {
    name: 'session-status',
    summary: 'Tell what this task has done so far (offshoot show)',
    byUser: false,
    prompt: [
      'Run `offshoot show`, `offshoot log` and `offshoot diff --stat`. They only look.',
      'Tell the user in a few lines: the state of the task, its steps, and which files it has changed.',
    ].join('\n'),
  },
  decided('accept', 'land', 'Land the work of this task in the checkout'),
  decided('reject', 'be rejected', 'Reject the work of this task; undo brings it back'),
]

/** The files that hold them for these agents, by path. Each folder is ours alone and has its own `.gitignore`. */
export function commandFiles(agents: readonly Agent[]): Map<string, string> {
  const files = new Map<string, string>()
  for (const command of slashCommands)
    for (const { slash } of agents) {
      const file = slash?.(command)
      if (!file) continue
      files.set(`${file.folder}/.gitignore`, '*\n')
      files.set(`${file.folder}/${file.name}`, file.content)
    }
  return files
}
