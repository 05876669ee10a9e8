/** Who plays: each agent with its package, its way to the scripted model, and its own names for the common tools. */
import type { Package } from './install.ts'
import type { ScriptedCall } from './model/turn.ts'

export interface Part {
  readonly agent: string
  readonly package: Package
  /** What leads it to the model instead of the network; may write into the user's home. */
  env(url: string, home: string): Record<string, string>
  write(file: string, content: string): ScriptedCall
  edit(file: string, before: string, after: string): ScriptedCall
  shell(command: string): ScriptedCall
  /** The names that steps carry. */
  readonly names: { readonly write: string; readonly edit: string; readonly shell: string }
}

const claude: Part = {
  agent: 'claude',
  package: { name: '@anthropic-ai/claude-code', version: '2.1.325' },
  env: (url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_MAX_RETRIES: '1',
    DISABLE_AUTOUPDATER: '1',
  }),
  write: (file, content) => ({ name: 'Write', input: { file_path: file, content } }),
  edit: (file, before, after) => ({
    name: 'Edit',
    input: { file_path: file, old_string: before, new_string: after },
  }),
  shell: (command) => ({ name: 'Bash', input: { command, description: 'a command' } }),
  names: { write: 'Write', edit: 'Edit', shell: 'Bash' },
}

export const cast: readonly Part[] = [claude]
