/** `hook claude EVENT`: answers a hook of Claude Code. */
import path from 'node:path'
import { isBelow } from '../../core/base/below.ts'
import { AppError } from '../../core/model/errors.ts'
import { shellText } from '../../core/model/redact.ts'
import type { Answer, Context } from '../command.ts'

/** The fields of Claude Code's hook input that offshoot reads. */
interface HookInput {
  readonly cwd?: string
  readonly name?: string
  readonly worktree_path?: string
  readonly tool_name?: string
  readonly tool_input?: Readonly<Record<string, unknown>>
  readonly tool_use_id?: string
}

/** The user names this command in the settings of the agent that they run by hand. */
export async function hook(context: Context): Promise<Answer> {
  const [agent, event] = context.positionals
  if (agent !== 'claude')
    throw new AppError('wrongUsage', `Unknown agent ${JSON.stringify(agent)}.`, {
      hint: 'AGENT takes one of: claude',
    })
  const input = await readInput()
  const repo = input.cwd ?? context.dir
  switch (event) {
    case 'WorktreeCreate': {
      // The agent of a run is in a worktree of its own already, and may make no other.
      const own = context.env.OFFSHOOT_RUN ? context.env.OFFSHOOT_TASK : undefined
      if (own !== undefined) {
        const { task } = await context.call('task.show', { repo, task: own })
        return { json: { task }, text: task.path }
      }
      const { task } = await context.call('task.start', { repo, task: input.name })
      return { json: { task }, text: task.path }
    }
    case 'WorktreeRemove': {
      if (context.env.OFFSHOOT_RUN) return { json: {}, text: '' }
      const done = await context.call('worktree.remove', { repo, path: input.worktree_path, force: true })
      return { json: { ...done }, text: '' }
    }
    case 'PostToolUse': {
      const { tool_name: tool, tool_input = {}, tool_use_id: call } = input
      const about = [
        inWorkspace(tool_input.file_path, context.env.OFFSHOOT_WORKSPACE ?? repo),
        tool_input.command,
        tool_input.description,
      ]
      const said = about.find((value) => typeof value === 'string')
      const summary = said === undefined ? undefined : shellText(said)
      const run = context.env.OFFSHOOT_RUN
      const { created, checkpoint } = await context.call('task.checkpoint', {
        repo,
        tool,
        summary,
        call,
        run,
      })
      return { json: { created, checkpoint }, text: '' }
    }
    default:
      throw new AppError('wrongUsage', `Unknown event ${JSON.stringify(event)}.`, {
        hint: `EVENT takes one of: ${events.join(', ')}`,
      })
  }
}

/** The agent names files by their full paths; those of the workspace are told as `log` and `diff` tell them. */
function inWorkspace(file: unknown, workspace: string): unknown {
  return typeof file === 'string' && isBelow(file, workspace) ? path.relative(workspace, file) : file
}

const events = ['WorktreeCreate', 'WorktreeRemove', 'PostToolUse']

async function readInput(): Promise<HookInput> {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
  try {
    return JSON.parse(text || '{}') as HookInput
  } catch (cause) {
    throw new AppError('wrongUsage', 'The input of the hook on stdin is not JSON.', {
      hint: 'An agent calls this command and writes JSON to its stdin.',
      cause,
    })
  }
}
