/** `cd`: prints the path of a workspace. */
import type { Answer, Context } from '../command.ts'
import { workspaceOf } from '../workspace-of.ts'

/** Prints the path unescaped, because a shell reads it. */
export async function cd(context: Context): Promise<Answer> {
  const { path } = await workspaceOf(context)
  return { json: { path }, text: path }
}
