/** What a client is told about this server, for its model to read. */
import type { Caller } from '../api/caller.ts'

export function instructionsFor(caller: Caller, repo: string | undefined): string {
  return [
    'offshoot keeps the work of coding agents apart from the checkout of the user: each task has a workspace, each step of the ' +
      'work is kept, and nothing reaches the checkout before somebody accepts it.',
    'task_start makes a task. Work in the folder `path` of its answer and record what you did with task_checkpoint; or let ' +
      'task_run carry out a prompt or a command there, which answers when that has ended. task_detach answers at once, and ' +
      'task_attach then follows the run. task_diff shows the work of a task.',
    rightsOf(caller),
    repo === undefined
      ? '`repo` is the absolute path of a folder in the repository.'
      : '`repo` is a folder in the repository; left out, it is the one that this server was started for.',
  ].join('\n')
}

function rightsOf(caller: Caller): string {
  if (caller.kind === 'agent')
    return 'You are the agent of a run: you may look at your own task and record steps. Landing it is for the user; task_accept tells them that you want it.'
  if (caller.kind === 'user' || caller.scopes.includes('land'))
    return 'task_accept lands the work of a task and system_undo takes that back: ask the user before you land anything.'
  return 'Landing work is for the user: offshoot accept TASK.'
}
