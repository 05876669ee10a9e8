/** Bugs in records, looks at them, locks and errors. A scenario of test/seeds must find each. */
import type { Mutant } from './mutant.ts'
import { perTask, session, supervisor } from './seed-suites.ts'

const list = 'src/core/verbs/list.ts'
const find = 'src/core/tasks/find.ts'
const found = 'return repo && (await records.store.findTask(repo.id, id))'
const errors = 'src/core/model/errors.ts'

export const mutants: readonly Mutant[] = [
  {
    name: 'records are kept in memory',
    file: 'src/compose/records.ts',
    find: 'sqliteStores(databaseFile(home))',
    replace: "sqliteStores(':memory:')",
    suites: [perTask('made'), supervisor],
    breaks: ['AC-005', 'UT-003', 'UT-004', 'IT-006', 'every worktree is listed'],
  },
  {
    name: 'list shows nothing',
    file: list,
    find: 'listed = input.state === undefined ? tasks :',
    replace: 'listed = input.state === undefined ? [] :',
    suites: [perTask('made')],
    breaks: ['FR-004', 'AC-004', 'FR-001', 'AC-001'],
  },
  {
    name: 'list asks git',
    file: list,
    find: '  if (!repo) return { seq, tasks: [], movedFrom',
    replace:
      '  await (records as unknown as { git: { requireVersion(): Promise<void> } }).git.requireVersion()\n  if (!repo) return { seq, tasks: [], movedFrom',
    suites: [perTask('made')],
    breaks: ['NFR-003, NFR-004: to list'],
  },
  {
    name: 'list takes its time',
    file: list,
    find: '  if (!repo) return { seq, tasks: [], movedFrom',
    replace:
      '  await new Promise((resolve) => setTimeout(resolve, 600))\n  if (!repo) return { seq, tasks: [], movedFrom',
    suites: [perTask('cost')],
    breaks: ['NFR-003'],
  },
  {
    name: 'a look-up takes its time',
    file: find,
    find: found,
    replace: `await new Promise((resolve) => setTimeout(resolve, 60))\n  ${found}`,
    suites: [perTask('cost')],
    breaks: ['NFR-004'],
  },
  {
    name: 'a task is looked up by another name',
    file: find,
    find: found,
    replace: 'return repo && (await records.store.findTask(repo.id, id.toLowerCase()))',
    suites: [perTask('made')],
    breaks: ['FR-005', 'AC-006'],
  },
  {
    name: 'every task exists',
    file: 'src/api/handlers/records.ts',
    find: 'return { exists: found !== undefined && isOpen(found) }',
    replace: 'return { exists: found === undefined || isOpen(found) }',
    suites: [perTask('made')],
    breaks: ['FR-007'],
  },
  {
    name: 'a call that is cancelled begins all the same',
    file: 'src/api/call.ts',
    find: '      signal?.throwIfAborted()\n      caller ??= readCaller()\n',
    replace: '      caller ??= readCaller()\n',
    suites: [perTask('made')],
    breaks: ['FR-008', 'FR-009'],
  },
  {
    name: 'a step is no use of a task',
    file: 'src/core/model/events.ts',
    find: "        // A sweep is no sign that somebody uses the task.\n        lastActiveAt: event.tool === 'sweep' ? task.lastActiveAt : at,",
    replace: '        lastActiveAt: task.lastActiveAt,',
    suites: [perTask('life')],
    breaks: ['FR-020'],
  },
  {
    name: 'the log does not say which operation it was',
    file: 'src/core/verbs/audit.ts',
    find: 'return event.undoes === undefined ? event.verb : `${event.verb} of ${event.undoes}`',
    replace: "return ''",
    suites: [perTask('life'), perTask('policies-and-limits')],
    breaks: ['NFR-013', 'NFR-025', 'NFR-014'],
  },
  {
    name: 'events are written one by one',
    file: 'src/core/tasks/records.ts',
    find: '  const tasks = await write(writer.store, told, undefined, writer.processes.self().pid)\n',
    replace:
      '  const tasks = new Map<string, Task>()\n  for (const one of told)\n    for (const [uid, task] of await write(writer.store, [one], undefined, writer.processes.self().pid)) tasks.set(uid, task)\n',
    suites: [perTask('life')],
    breaks: ['NFR-024'],
  },
  {
    name: 'errors have no hints',
    file: errors,
    find: 'this.hint = detail.hint ?? hint',
    replace: "this.hint = ''",
    suites: [perTask('errors'), session],
    breaks: ['AC-011', 'NFR-015', 'Disk Space: max concurrent'],
  },
  {
    name: 'errors have no paths',
    file: errors,
    find: 'this.path = detail.path',
    replace: 'this.path = undefined',
    suites: [perTask('errors')],
    breaks: ['NFR-015'],
  },
  {
    name: 'nobody waits for a lock',
    file: 'src/lock/sqlite.ts',
    find: 'const deadline = performance.now() + waitMs',
    replace: 'const deadline = performance.now() + waitMs * 0',
    suites: [perTask('many-at-once')],
    breaks: ['NFR-007', 'AC-017', 'IT-007', 'NFR-008', 'AC-018', 'AC-020'],
  },
  {
    name: 'a lock that is held is an internal error',
    file: 'src/lock/sqlite.ts',
    find: "return new AppError('locked', `The lock ${name}",
    replace: "return new AppError('failed' as 'locked', `The lock ${name}",
    suites: [perTask('many-at-once')],
    breaks: ['AC-019'],
  },
  {
    name: 'doctor does not know network file systems',
    file: 'src/core/verbs/doctor.ts',
    find: 'if (space.network)',
    replace: 'if (space.total < 0)',
    suites: [session],
    breaks: ['Network Filesystems'],
  },
]
