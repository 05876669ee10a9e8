import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { openRepo } from 'offshoot'

interface Call {
  tool: 'read' | 'write'
  input: { path: string; text: string }
}

/** `next` asks your model for the next tool call; it answers undefined when the model is done. */
export async function runAgent(next: (result?: unknown) => Promise<Call | undefined>): Promise<void> {
  await using repo = openRepo('.')
  await repo.start({ task: 'fix-login' })
  const task = repo.task('fix-login')
  await task.run('my agent', async ({ workspace, wrap }) => {
    const tools = wrap(
      {
        read: (input: Call['input']) => readFile(path.join(workspace, input.path), 'utf8'),
        write: (input: Call['input']) => writeFile(path.join(workspace, input.path), input.text),
      },
      { readOnly: ['read'] },
    )
    // A result comes back when the step that holds the change is on the disk.
    for (let call = await next(); call; ) call = await next(await tools[call.tool](call.input))
  })
  for (const step of await task.log()) console.log(step.n, step.tool, step.summary)
}
