/** `pool`: makes workspaces ahead (docs/adr/0022-workspaces-made-ahead.md). */
import { type Answer, type Context, flag } from '../command.ts'
import { counted } from '../../core/base/counted.ts'

export async function pool(context: Context): Promise<Answer> {
  const clear = flag(context.values, 'clear')
  const { slots, made } = await context.call('system.pool', { repo: context.dir, clear })
  if (clear && slots === 0) return { json: { slots, made }, text: 'Cleared the pool.' }
  const ready = `${counted(slots, 'workspace')} ${slots === 1 ? 'is' : 'are'} ready`
  return { json: { slots, made }, text: made === 0 ? `${ready}.` : `${ready}, ${made} of them new.` }
}
