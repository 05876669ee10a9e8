/** Bugs in the ACP door. */
import type { Mutant } from './mutant.ts'

const journey = 'test/doors/acp.test.ts'

export const mutants: readonly Mutant[] = [
  {
    name: 'ACP: a question that the editor takes back is a yes',
    file: 'src/acp/turn.ts',
    find: "return said || signal.aborted ? 'deny' : undefined",
    replace: "return said || signal.aborted ? 'once' : undefined",
    suites: [journey],
  },
  {
    name: 'ACP: a session goes on without its conversation',
    file: 'src/acp/talks.ts',
    find: 'resume: task.conversation !== undefined,',
    replace: 'resume: false,',
    suites: [journey],
  },
  {
    name: 'ACP: a session that ends takes the files of the user along',
    file: 'src/acp/talks.ts',
    find: 'now.checkpoints === 0 && now.dirty === false',
    replace: 'now.checkpoints === 0',
    suites: [journey],
  },
  {
    name: 'ACP: a session that is closed waits for the end of its run',
    file: 'src/acp/talks.ts',
    find: 'session.turn?.cancel.abort(cancelled())\n    await',
    replace: 'await',
    suites: [journey],
  },
  {
    name: 'ACP: below a run an agent makes sessions',
    file: 'src/cli/commands/acp.ts',
    find: "starter.kind === 'agent' ? starter : {",
    replace: "starter.kind === 'agent' && false ? starter : {",
    suites: [journey],
  },
  {
    name: 'ACP: calls of two runs share an id',
    file: 'src/acp/updates.ts',
    find: '`${run}/${call.call ?? ++count}`',
    replace: '`${call.call ?? ++count}`',
    suites: ['src/acp/updates.test.ts'],
  },
  {
    name: 'ACP: the agent is told of files of the checkout',
    file: 'src/acp/prompt.ts',
    find: 'const inside = path.relative(checkout, file)',
    replace: "const inside = path.relative('/', `..${file}`)",
    suites: ['src/acp/prompt.test.ts'],
  },
]
