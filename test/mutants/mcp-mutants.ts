/** Bugs in the MCP door, and in what it needs of other folders. */
import type { Mutant } from './mutant.ts'

const journey = 'test/doors/mcp.test.ts'
const overHttp = 'test/doors/mcp-http.test.ts'
const unit = (name: string) => `src/mcp/${name}.test.ts`

export const mutants: readonly Mutant[] = [
  {
    name: 'MCP: below a run a client has the scope of the server',
    file: 'src/cli/commands/mcp.ts',
    find: "if (starter.kind === 'agent') return starter",
    replace: "if (starter.kind === 'agent' && scope === 'look') return starter",
    suites: [journey],
  },
  {
    name: 'MCP: a client may land unless it is told otherwise',
    file: 'src/cli/commands/mcp.ts',
    find: "const usual: Scope = 'run'",
    replace: "const usual: Scope = 'land'",
    suites: [journey],
  },
  {
    name: 'MCP: -C counts less than the root of the client',
    file: 'src/cli/commands/mcp.ts',
    find: "text(values, 'directory') === undefined",
    replace: "text(values, 'directory') !== ''",
    suites: [journey],
  },
  {
    name: 'MCP: commands read and write where the protocol does',
    file: 'src/cli/main.ts',
    find: 'compose({ named, lendsStreams: false })',
    replace: 'compose({ named })',
    suites: [journey],
  },
  {
    name: 'MCP: a server takes the notices of the user away',
    file: 'src/cli/play.ts',
    find: "!flag(values, 'quiet') && !command?.isForPrograms",
    replace: "!flag(values, 'quiet')",
    suites: [journey],
  },
  {
    name: 'MCP: a direct run needs no more than the scope run',
    file: 'src/actions/work.ts',
    find: "scope: 'land',",
    replace: "scope: 'run',",
    suites: [journey],
  },
  {
    name: 'MCP: a shadow branch needs no more than the scope run',
    file: 'src/api/call.ts',
    find: 'requireScope(caller, action, isPreview, asking)',
    replace: 'requireScope(caller, action, isPreview)',
    suites: [journey],
  },
  {
    name: 'MCP: a cancelled request goes on',
    file: 'src/mcp/call-tool.ts',
    find: "mcpReq.signal.addEventListener('abort', abort, { once: true })",
    replace: 'void abort',
    suites: [journey, overHttp],
  },
  {
    name: 'MCP: a server that ends leaves its calls running',
    file: 'src/mcp/under-way.ts',
    find: 'signal ? AbortSignal.any([signal, stop.signal]) : stop.signal',
    replace: 'signal',
    suites: [overHttp],
  },
  {
    name: 'MCP: progress has no numbers of its own',
    file: 'src/mcp/progress.ts',
    find: 'progress: ++progress',
    replace: 'progress',
    suites: [journey],
  },
  {
    name: 'MCP: progress passes on what moves the cursor',
    file: 'src/mcp/progress.ts',
    find: 'cut(printable(words))',
    replace: 'cut(words)',
    suites: [journey],
  },
  {
    name: 'MCP: text hides what turns it around',
    file: 'src/mcp/answers.ts',
    find: '/[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]/gu',
    replace: '/[\\p{Cc}]/gu',
    suites: [unit('answers')],
  },
  {
    name: 'MCP: an answer may be as long as it likes',
    file: 'src/mcp/answers.ts',
    find: 'if (text.length > longestAnswer)',
    replace: 'if (text.length < 0)',
    suites: [unit('answers')],
  },
  {
    name: 'MCP: an agent is offered everything',
    file: 'src/mcp/tools.ts',
    find: 'return action.forAgent !== undefined || isWish(caller, action)',
    replace: "return action.forAgent !== undefined || caller.kind === 'agent'",
    suites: [unit('tools')],
  },
  {
    name: 'MCP: a relative path begins at the folder of the process',
    file: 'src/mcp/folder.ts',
    find: 'path.resolve(from, value)',
    replace: 'path.resolve(value)',
    suites: [unit('folder')],
  },
  {
    name: 'MCP: a diff is shown whatever the step',
    file: 'src/mcp/resources.ts',
    find: "call('task.diff', { ...named, step }, signal)",
    replace: "call('task.diff', { ...named, ...(step === '' && { step }) }, signal)",
    suites: [journey],
  },
  {
    name: 'a detached run starts a task that is closed anew',
    file: 'src/core/verbs/detach.ts',
    find: 'const task = await requireOpen(ports, named)',
    replace: 'const task = named',
    suites: ['test/runs/detach.test.ts'],
  },
  {
    name: 'the prompt of a detached run is a word of its command line',
    file: 'src/core/runs/detached-words.ts',
    find: "prompt === undefined ? [] : ['-']",
    replace: 'prompt === undefined ? [] : [prompt]',
    suites: ['src/core/runs/detached-words.test.ts'],
  },
]
