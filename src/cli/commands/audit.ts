/** `audit`: prints the log of events, or verifies its seals (docs/adr/0020-the-log-is-sealed.md). */
import { moment } from '../ages.ts'
import { type Answer, type Context, flag, text } from '../command.ts'
import { counted } from '../../core/base/counted.ts'
import { printableLines, table } from '../output.ts'

/** The seals need no key. */
const proven =
  'A log that was forged as a whole has an unbroken chain as well: compare the seal with one that you noted elsewhere.'

export async function audit(context: Context): Promise<Answer> {
  const { dir, values } = context
  const since = text(values, 'since')
  const { events, verified } = await context.call('system.audit', {
    repo: dir,
    task: text(values, 'task'),
    since: since === undefined ? undefined : moment(since, new Date(), '--since'),
    failures: flag(values, 'failures'),
    verify: flag(values, 'verify'),
  })
  if (verified) {
    const { entries, head, flaws } = verified
    const lines = flaws.map(({ seq, what }) => `entry ${seq}: ${what}`)
    const chained = `${counted(entries, 'entry forms', 'entries form')} an unbroken chain.`
    const sound = `${chained} The last seal: ${head || 'none yet'}\n${proven}`
    const words = flaws.length === 0 ? sound : printableLines(lines)
    return { json: { verified }, text: words, exitCode: flaws.length === 0 ? 0 : 1 }
  }
  if (events?.length === 0) context.tell('No entries.')
  const rows = (events ?? []).map(({ at, task, what, by, commit, detail }) => [
    at,
    task,
    what,
    commit?.slice(0, 10) ?? '',
    by ?? '',
    detail,
  ])
  return { json: { events }, text: await table(rows), long: true }
}
