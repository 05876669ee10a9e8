/** The library. It never prints and never exits the process. */
import { type ComposeOptions, compose } from './compose/full.ts'
import { type OpenRepo, repoOn } from './library/repo.ts'

export { AppError, type ErrorCode } from './core/model/errors.ts'
export type { Agent } from './core/ports/agent.ts'
export type {
  AgentEvent,
  AgentInput,
  SlashCommand,
  SlashFile,
  ToolCall,
  ToolKind,
  Permission,
} from './core/model/agent.ts'
export type { FollowedEvent } from './api/follow.ts'
export type { Cell } from './core/ports/sandbox.ts'
export type { TaskEvent } from './core/model/events.ts'
export type { Notice } from './core/model/notice.ts'
export type { Said, Told } from './protocol/events.ts'
export type { TaskState } from './core/model/enums.ts'
export type { TaskView } from './core/model/task-view.ts'
export type { Tool, Tools, WrapOptions, WrappedTools } from './core/runs/wrap.ts'
export type { EventsOptions, OpenRepo } from './library/repo.ts'
export type { LoopRun, OpenTask } from './library/task.ts'
export type * from './library/types.ts'

export type OpenOptions = Pick<ComposeOptions, 'home' | 'env' | 'flags' | 'clock' | 'background'>

/** Opens the repository that holds `dir`. Opening reads nothing; the first verb does. */
export function openRepo(dir: string, options: OpenOptions = {}): OpenRepo {
  const { home, env, flags, clock, background } = options
  return repoOn(compose({ home, env, flags, clock, background, named: dir }), dir)
}
