/** Refuses patterns of a policy that no tool call can fit: a misspelled denial would deny nothing, without a word. */
import { nearest } from '../base/did-you-mean.ts'
import { matchesStars } from '../base/stars.ts'
import { toolUse } from '../base/tool-list.ts'
import { AppError } from '../model/errors.ts'
import type { Policy } from './policy.ts'

const list = (words: string) => words.split(' ')

/** Names that a use in brackets can be written for: kinds of tools, and the tools of those kinds. */
const withUses = list(
  'Bash Shell Read Edit WebFetch Fetch Write MultiEdit NotebookEdit NotebookRead Glob Grep LS apply_patch view_image ' +
    'exec_command local_shell run_shell_command replace write_file read_file read_many_files list_directory ' +
    'grep_search search_file_content web_fetch patch list execute search delete move',
)

const others = list(
  'WebSearch Task Agent TodoWrite TodoRead BashOutput KillShell KillBash SlashCommand Skill ExitPlanMode EnterPlanMode ' +
    'AskUserQuestion EnterWorktree ExitWorktree Workflow ListAgents CronList CronCreate CronDelete ToolSearch ReportFindings Monitor LSP TaskCreate ' +
    'TaskUpdate TaskList TaskGet TaskOutput TaskStop ListMcpResources ReadMcpResource SendMessage update_plan ' +
    'web_search write_stdin google_web_search save_memory write_todos activate_skill ask_user question codesearch ' +
    'batch invalid think other switch_mode',
)

/** Throws `wrongUsage`. Agents that are not ours have tools that nobody knows here, so only the form of a use counts. */
export function requireTools({ allowed, denied }: Policy, isOurs: boolean): void {
  for (const pattern of [...allowed, ...denied]) {
    const { name, use } = toolUse(pattern)
    if (isOurs && !isTool(name)) throw unknown(pattern, name)
    if (use !== undefined && isOurs && !mayHaveUse(name)) throw withoutUse(pattern, name)
  }
}

const fits = (name: string, known: readonly string[]) =>
  known.some((tool) => matchesStars(name.toLowerCase(), tool.toLowerCase()))

/** A tool of a server has an underscore in its name: `mcp__files__write`, `files_write`. */
const isOfServer = (name: string) => /^mcp\b|_|^mcp\*/i.test(name)

const isTool = (name: string) => isOfServer(name) || fits(name, [...withUses, ...others])

const mayHaveUse = (name: string) => fits(name, withUses)

function unknown(pattern: string, name: string): AppError {
  const near = nearest(name, [...withUses, ...others])
  return new AppError('wrongUsage', `${pattern}: no agent has a tool ${name}.`, {
    hint: near
      ? `Did you mean ${pattern.replace(name, near)}?`
      : 'Name a tool or a kind of tool: Read, Edit, Bash, WebFetch, mcp__server__tool.',
  })
}

const withoutUse = (pattern: string, name: string) =>
  new AppError('wrongUsage', `${pattern}: ${name} has no uses to choose from.`, {
    hint: `Uses are commands, files and addresses: Bash(npm test *), Edit(src/**), WebFetch(domain:example.com). Or: ${name}`,
  })
