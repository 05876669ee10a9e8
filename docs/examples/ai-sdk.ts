import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { openRepo, type Tools } from 'offshoot'

/** Stands for `generateText` of the AI SDK, with a model of your choice. */
type Generate = (options: { tools: Tools; prompt: string }) => Promise<{ text: string }>

export async function runWithAiSdk(generateText: Generate, inputSchema: unknown): Promise<string> {
  await using repo = openRepo('.')
  await repo.start({ task: 'fix-login' })
  return await repo.task('fix-login').run('ai sdk', async ({ workspace, wrap }) => {
    // The shape that `tool()` answers: an `execute` among other properties, which stay as they are.
    const write = {
      description: 'Write a file',
      inputSchema,
      execute: async (input: { path: string; text: string }) => {
        await writeFile(path.join(workspace, input.path), input.text)
        return 'written'
      },
    }
    const tools = wrap({ write }, { files: (_, input) => [(input as { path: string }).path] })
    const { text } = await generateText({ tools, prompt: 'Fix the login' })
    return text
  })
}
