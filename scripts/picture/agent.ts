/** The agent of README's picture: a script that makes three tool calls, whatever its prompt says. */
import type { Agent, AgentEvent, Cell } from 'offshoot'

const fixed = `export function login(name, password) {
  if (!name || !password) throw new Error('name and password are required')
  return { name: name.trim(), at: Date.now() }
}
`

const test = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { login } from './login.js'

test('an empty password is refused', () => assert.throws(() => login('ada', '')))
test('a name is trimmed', () => assert.equal(login(' ada ', 'x').name, 'ada'))
`

interface Act {
  readonly tool: 'Edit' | 'Write' | 'Bash'
  /** What the shell runs; the tool's own command, or the way in which this script writes its file. */
  readonly command: string
  readonly file?: string
}

const writing = (file: string, text: string) => `cat > ${file} <<'END'\n${text}END\n`

const acts: readonly Act[] = [
  { tool: 'Edit', file: 'login.js', command: writing('login.js', fixed) },
  { tool: 'Write', file: 'login.test.js', command: writing('login.test.js', test) },
  { tool: 'Bash', command: 'node --test' },
]

async function* use(
  { tool, file, command }: Act,
  cell: Cell,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent> {
  const call =
    file === undefined
      ? { name: tool, kind: 'shell' as const, input: { command }, command }
      : { name: tool, kind: 'edit' as const, input: { path: file }, files: [file] }
  yield { type: 'toolStarted', ...call }
  const code = await cell.run({ argv: ['sh', '-c', command], onOutput: () => {} }, signal)
  yield { type: 'toolEnded', ...call, ok: code === 0, release: () => {} }
}

export const scripted: Agent = {
  name: 'scripted',
  title: 'A scripted agent',
  exact: true,
  asks: true,
  async *run(_, cell, signal) {
    yield { type: 'started', conversationId: 'picture' }
    for (const act of acts) yield* use(act, cell, signal)
    yield { type: 'message', text: 'An empty password is refused now, and two tests say so.' }
    yield { type: 'ended', ok: true, reason: '' }
  },
}
