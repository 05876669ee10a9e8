/** The agents under test: each with its package, its way to the scripted model, and its own names for the common tools. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { install, type Package } from './install.ts'
import type { ScriptedCall } from './model/turn.ts'

export interface AgentUnderTest {
  readonly agent: string
  readonly package: Package
  /** What leads it to the model instead of the network; may write into the user's home. */
  env(url: string, home: string): Record<string, string>
  write(file: string, content: string): ScriptedCall
  edit(file: string, before: string, after: string): ScriptedCall
  shell(command: string): ScriptedCall
  /** The names that steps carry. */
  readonly names: { readonly write: string; readonly edit: string; readonly shell: string }
  /** What a user says to have our command for the status carried out; left out where it is for the agent to find it. */
  readonly slash?: string
  /** Calls of one turn may end up in one step. */
  readonly batches?: boolean
}

const claude: AgentUnderTest = {
  agent: 'claude',
  package: { name: '@anthropic-ai/claude-code', version: '2.1.325' },
  env: (url, home) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_MAX_RETRIES: '1',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_TMPDIR: path.join(home, 'tmp'),
  }),
  write: (file, content) => ({ name: 'Write', input: { file_path: file, content } }),
  edit: (file, before, after) => ({
    name: 'Edit',
    input: { file_path: file, old_string: before, new_string: after },
  }),
  shell: (command) => ({ name: 'Bash', input: { command, description: 'a command' } }),
  names: { write: 'Write', edit: 'Edit', shell: 'Bash' },
  slash: '/session-status',
}

/** Its editing tool takes a patch, and paths as seen from the workspace. */
const patch = (...lines: string[]): ScriptedCall => ({
  name: 'apply_patch',
  input: ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n'),
})

const codex: AgentUnderTest = {
  agent: 'codex',
  package: { name: '@openai/codex', version: '0.166.0' },
  env(url, home) {
    const config = [
      'model = "gpt-5.5"',
      'model_provider = "scripted"',
      '[model_providers.scripted]',
      'name = "scripted"',
      `base_url = "${url}/v1"`,
      'wire_api = "responses"',
      'env_key = "SCRIPTED_KEY"',
      'request_max_retries = 1',
      'stream_max_retries = 2',
    ]
    mkdirSync(path.join(home, '.codex'))
    writeFileSync(path.join(home, '.codex', 'config.toml'), config.join('\n'))
    return { SCRIPTED_KEY: 'none' }
  },
  write: (file, content) =>
    patch(
      `*** Add File: ${path.basename(file)}`,
      ...content
        .trimEnd()
        .split('\n')
        .map((line) => `+${line}`),
    ),
  edit: (file, before, after) =>
    patch(`*** Update File: ${path.basename(file)}`, '@@', `-${before}`, `+${after}`),
  shell: (command) => ({ name: 'exec_command', input: { cmd: command } }),
  names: { write: 'apply_patch', edit: 'apply_patch', shell: 'Bash' },
  slash: '$session-status',
}

const opencode: AgentUnderTest = {
  agent: 'opencode',
  package: { name: 'opencode-ai', version: '1.18.33' },
  env(url, home) {
    const scripted = {
      npm: '@ai-sdk/openai-compatible',
      name: 'scripted',
      options: { baseURL: `${url}/v1`, apiKey: 'none' },
      models: { scripted: { name: 'scripted' } },
    }
    const folder = path.join(home, '.config', 'opencode')
    mkdirSync(folder, { recursive: true })
    // It would load this from the network, at every first start in a new home.
    const programs = install({ name: '@opencode-ai/plugin', version: '1.18.33' })
    for (const name of ['package.json', 'package-lock.json', 'node_modules'])
      cpSync(path.resolve(programs ?? '', '../..', name), path.join(folder, name), { recursive: true })
    writeFileSync(
      path.join(folder, 'opencode.json'),
      JSON.stringify({ provider: { scripted }, model: 'scripted/scripted', autoupdate: false }),
    )
    return { OPENCODE_DISABLE_MODELS_FETCH: '1' }
  },
  write: (file, content) => ({ name: 'write', input: { filePath: file, content } }),
  edit: (file, before, after) => ({
    name: 'edit',
    input: { filePath: file, oldString: before, newString: after },
  }),
  shell: (command) => ({ name: 'bash', input: { command, description: 'a command' } }),
  names: { write: 'write', edit: 'edit', shell: 'bash' },
}

const gemini: AgentUnderTest = {
  agent: 'gemini',
  package: { name: '@google/gemini-cli', version: '0.61.0' },
  env(url, home) {
    mkdirSync(path.join(home, '.gemini'))
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      general: { disableAutoUpdate: true },
      privacy: { usageStatisticsEnabled: false },
      model: { name: 'gemini-2.5-pro' },
    }
    writeFileSync(path.join(home, '.gemini', 'settings.json'), JSON.stringify(settings))
    return { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'none' }
  },
  write: (file, content) => ({ name: 'write_file', input: { file_path: file, content } }),
  edit: (file, before, after) => ({
    name: 'replace',
    input: { file_path: file, instruction: 'change it', old_string: before, new_string: after },
  }),
  shell: (command) => ({ name: 'run_shell_command', input: { command, description: 'a command' } }),
  names: { write: 'write_file', edit: 'replace', shell: 'run_shell_command' },
  slash: '/offshoot:session-status',
  batches: true,
}

const own: AgentUnderTest = {
  ...claude,
  agent: 'own',
  env: (url, home) => ({
    ...claude.env(url, home),
    OFFSHOOT_AGENT_ADAPTERS: path.join(import.meta.dirname, 'own.ts'),
  }),
}

export const agentsUnderTest: readonly AgentUnderTest[] = [claude, codex, opencode, gemini, own]
