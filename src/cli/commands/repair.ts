import type { Answer, Context } from '../command.ts'
import { printable } from '../output.ts'

const told = {
  sound: 'was sound',
  mended: 'has its git back',
  recreated: 'was made again, as of its last step',
}

export async function repair(context: Context): Promise<Answer> {
  const { task, mended } = await context.call('task.repair', {
    repo: context.dir,
    task: context.positionals[0],
  })
  return { json: { task, mended }, text: printable(`The workspace of ${task.id} ${told[mended]}.`) }
}
