/** `doctor`: prints every check, with a hint for each that is not ok; with --orphans, only what belongs to no task. */
import { ageText } from '../../core/base/time.ts'
import { type Answer, type Context, flag } from '../command.ts'
import { printable, table } from '../output.ts'

const styles = { ok: 'green', warn: 'yellow', fail: 'red' } as const

export async function doctor(context: Context): Promise<Answer> {
  const { dir, call, paint, values } = context
  if (flag(values, 'orphans')) return orphans(context)
  const { checks } = await call('system.doctor', { repo: dir })
  const lines = checks.flatMap(({ name, status, message, hint, why }) => [
    `${paint(styles[status], status.padEnd(4))}  ${printable(`${name}: ${message}`)}`,
    ...(why === undefined ? [] : [`      ${printable(why)}`]),
    ...(hint === '' ? [] : [`      ${printable(hint)}`]),
  ])
  const failed = checks.some(({ status }) => status === 'fail')
  return { json: { checks }, text: lines.join('\n'), exitCode: failed ? 1 : 0 }
}

async function orphans({ dir, call }: Context): Promise<Answer> {
  const { orphans: found } = await call('system.orphans', { repo: dir })
  const rows = found.map(({ path, kind, branch, task, age }) => [
    kind,
    task ?? '(none)',
    branch ?? '',
    age === null ? '' : ageText(age),
    path,
  ])
  return {
    json: { orphans: found },
    text:
      found.length === 0 ? 'No orphans.' : await table([['KIND', 'TASK', 'BRANCH', 'AGE', 'PATH'], ...rows]),
  }
}
