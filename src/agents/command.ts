/** The agent that is any command. */
import type { Agent } from '../core/ports/agent.ts'
import { commandLine } from '../core/model/redact.ts'
import { events } from './events.ts'

/** We cannot see what a command does, so all of its changes are one step. */
export const command: Agent = {
  name: 'command',
  title: 'any command',
  exact: false,
  asks: false,
  obeys: [],
  run: ({ argv = [], prompt, terminal }, cell, cancel) =>
    events(cancel, async (push, signal) => {
      const line = argv.length > 0 ? argv : ['/bin/sh', '-c', prompt]
      const onOutput = terminal
        ? undefined
        : (stream: 'stdout' | 'stderr', text: string) => push({ type: 'output', stream, text })
      const exitCode = await cell.run({ argv: line, onOutput }, signal)
      const ok = exitCode === 0
      const reason = ok ? '' : `${line[0]} ended with exit code ${exitCode}`
      push({ type: 'ended', ok, reason, exitCode, step: { tool: 'command', summary: commandLine(line) } })
    }),
}
