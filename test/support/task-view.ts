/** Tasks as `list` answers them, for tests of what shows them. */
import type { TaskView } from '../../src/core/model/task-view.ts'

export function viewOf(id: string, more: Partial<TaskView> = {}): TaskView {
  return {
    id,
    uid: id.toLowerCase().padEnd(20, '0'),
    repoId: 'r'.repeat(20),
    title: '',
    state: 'active',
    isolation: 'worktree',
    path: `/state/workspaces/shop/${id}`,
    branch: `offshoot/${id}`,
    base: { branch: 'main', commit: 'c'.repeat(40) },
    origin: '/home/you/shop',
    head: 'c'.repeat(40),
    checkpoints: 0,
    files: 0,
    insertions: 0,
    deletions: 0,
    createdAt: '2026-11-15T18:00:00.000Z',
    lastActiveAt: '2026-11-15T18:00:00.000Z',
    runs: 0,
    dirty: null,
    landed: null,
    slug: id.toLowerCase(),
    ...more,
  }
}

const asked = {
  question: 'q1',
  tool: 'Bash',
  summary: 'npm install left-pad',
  reason: 'it reaches the network',
  at: '2026-11-15T18:00:00.000Z',
  until: '2026-11-15T18:10:00.000Z',
}

/** One task of each kind. */
export const everyKind: readonly TaskView[] = [
  viewOf('idle'),
  viewOf('ready', {
    state: 'completed',
    agent: 'codex',
    checkpoints: 3,
    files: 2,
    insertions: 40,
    deletions: 7,
  }),
  viewOf('empty', { state: 'completed', agent: 'codex' }),
  viewOf('works', {
    running: true,
    runningSince: '2026-11-15T18:00:30.000Z',
    agent: 'claude',
    lastCall: { tool: 'Bash', summary: 'npm test' },
  }),
  viewOf('broken', { state: 'failed', reason: 'API Error: 529 overloaded', agent: 'claude' }),
  viewOf('wants', { state: 'completed', wanted: 'accept', agent: 'gemini' }),
  viewOf('asks', { running: true, asks: asked, agent: 'claude' }),
]
