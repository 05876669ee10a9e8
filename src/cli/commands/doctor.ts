/** `doctor`: prints every check, with a hint for each that is not ok. */
import type { Answer, Context } from '../command.ts'
import { printable } from '../output.ts'

const styles = { ok: 'green', warn: 'yellow', fail: 'red' } as const

export async function doctor({ dir, call, paint }: Context): Promise<Answer> {
  const { checks } = await call('system.doctor', { repo: dir })
  const lines = checks.flatMap(({ name, status, message, hint, why }) => [
    `${paint(styles[status], status.padEnd(4))}  ${printable(`${name}: ${message}`)}`,
    ...(why === undefined ? [] : [`      ${printable(why)}`]),
    ...(hint === '' ? [] : [`      ${printable(hint)}`]),
  ])
  const failed = checks.some(({ status }) => status === 'fail')
  return { json: { checks }, text: lines.join('\n'), exitCode: failed ? 1 : 0 }
}
