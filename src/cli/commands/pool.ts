import { type Answer, type Context, flag } from '../command.ts'
import { counted } from '../output.ts'

export async function pool(context: Context): Promise<Answer> {
  const input = { repo: context.dir, clear: flag(context.values, 'clear') }
  const { slots, made } = await context.call('system.pool', input)
  const ready = `${counted(slots, 'workspace')} ${slots === 1 ? 'is' : 'are'} ready`
  return { json: { slots, made }, text: made === 0 ? `${ready}.` : `${ready}, ${made} of them new.` }
}
