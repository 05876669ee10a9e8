/** Finds the settings of an agent that a workspace holds (docs/adr/0041-project-settings-of-agents.md). */
import path from 'node:path'
import type { Agent } from '../ports/agent.ts'
import type { Ports } from '../ports/index.ts'
import { slashCommands } from './slash-commands.ts'

/** Whether the workspace holds a file that the agent would obey, other than the slash commands of offshoot. */
export async function hasProjectSettings(
  { files, agents }: Pick<Ports, 'files' | 'agents'>,
  { obeys, slash }: Pick<Agent, 'obeys' | 'slash'>,
  workspace: string,
): Promise<boolean> {
  const ours = new Set(slashCommands.map((command) => slash?.(command).folder))
  const isForeign = async (file: string): Promise<boolean> => {
    if (ours.has(file)) return false
    const kind = await files.readKind(path.join(workspace, file))
    if (kind !== 'folder') return kind !== undefined
    const names = await files.readNames(path.join(workspace, file))
    for (const name of names) if (await isForeign(`${file}/${name}`)) return true
    return false
  }
  for (const file of obeys ?? agents.flatMap((agent) => agent.obeys ?? []))
    if (await isForeign(file)) return true
  return false
}
