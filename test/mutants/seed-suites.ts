/** The files of test/seeds, for the lists of bugs that they must find. */

export const session = 'test/seeds/worktree-per-session.test.ts'
export const shadow = 'test/seeds/shadow-branch-session.test.ts'
export const supervisor = 'test/seeds/agent-supervisor.test.ts'
export const atOnce = 'test/seeds/agents-at-once.test.ts'
export const perTask = (name: string) => `test/seeds/worktree-per-task/${name}.test.ts`
export const messages = 'test/seeds/worktree-messages.test.ts'
