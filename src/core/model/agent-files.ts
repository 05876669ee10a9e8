/**
 * The files and folders of a repository by which an agent is steered, at its root or below: to run an agent they must be
 * trusted, a policy guards them, and landing tells of them (docs/adr/0037-project-settings-of-agents.md).
 */

interface AgentFiles {
  readonly folders: readonly string[]
  readonly files: readonly string[]
}

/** By the names of our agents. */
export const agentFiles = {
  claude: { folders: ['.claude'], files: ['.mcp.json'] },
  codex: { folders: ['.codex'], files: [] },
  gemini: { folders: ['.gemini'], files: [] },
  opencode: { folders: ['.opencode'], files: ['opencode.json', 'opencode.jsonc'] },
} as const satisfies Record<string, AgentFiles>

const all: readonly AgentFiles[] = Object.values(agentFiles)

export const agentFolderNames: readonly string[] = all.flatMap(({ folders }) => folders)
export const agentFileNames: readonly string[] = all.flatMap(({ files }) => files)

/** All that the agent of that name obeys. */
export function obeyedPaths(agent: keyof typeof agentFiles): readonly string[] {
  const { folders, files } = agentFiles[agent]
  return [...folders, ...files]
}
