/** The lines for the user about trash and vault: what was deleted, what will be. Pure. */
import { counted } from '../base/counted.ts'
import { sizeText } from '../model/disk-use.ts'
import type { Settings } from '../model/settings.ts'
import type { Task } from '../model/task.ts'
import type { ShrinkPlan } from './shrink-plan.ts'

type Trash = Settings['trash']
type Plan = ShrinkPlan<{ folder: string; since: Date }>

const idsOf = (tasks: readonly Task[]) => tasks.map(({ id }) => id).join(', ')
const looseText = (count: number, { keepDays }: Trash) =>
  `${counted(count, 'folder')} of no operation, in the trash for ${counted(keepDays, 'day')}`

/** What later prunes will delete. */
export function announcementLines({ announced, expiring, loose }: Plan, trash: Trash): string[] {
  const lines: string[] = []
  if (announced.length > 0)
    lines.push(
      `Trash and vault take more than ${trash.maxMegabytes} MB (trash.maxMegabytes). The folders of ${idsOf(announced)} ` +
        'will leave the trash; their files are in the vault, what git ignores is not.',
    )
  const later = 'the first prune that comes a day from now or later lets them go for good'
  if (expiring.length > 0)
    lines.push(
      `Closed more than ${trash.keepDays} days ago (trash.keepDays), ${later}: ${idsOf(expiring)}. ` +
        'Until then they can be brought back: offshoot ops lists their operations.',
    )
  if (loose.waits.length > 0)
    lines.push(
      `In the trash for ${counted(trash.keepDays, 'day')}: ${counted(loose.waits.length, 'folder')} of no operation; ${later}.`,
    )
  return lines
}

/** What a prune would delete now; `leaving` are the tasks whose folders the vault can make again. */
export function previewLines({ expires, loose }: Plan, leaving: readonly Task[], trash: Trash): string[] {
  const lines: string[] = []
  if (leaving.length > 0)
    lines.push(`The folders of ${idsOf(leaving)} would leave the trash; their files are in the vault.`)
  const gone = idsOf(expires.map(({ task }) => task))
  if (gone !== '') lines.push(`Closed for ${trash.keepDays} days, these would be gone for good: ${gone}.`)
  if (loose.goes.length > 0) lines.push(`Would be deleted for good: ${looseText(loose.goes.length, trash)}.`)
  return lines
}

/** What one prune has deleted. */
export interface Deleted {
  /** The tasks whose folders left the trash. */
  readonly slimmed: readonly Task[]
  /** How many tasks and loose folders went for good. */
  readonly expired: number
  readonly loose: number
}

export function deletedLines({ slimmed, expired, loose }: Deleted, trash: Trash): string[] {
  const lines: string[] = []
  if (slimmed.length > 0)
    lines.push(`${counted(slimmed.length, 'folder')} left the trash; the vault has the files.`)
  if (expired > 0)
    lines.push(`Deleted for good: ${counted(expired, 'task')}, closed for ${counted(trash.keepDays, 'day')}.`)
  if (loose > 0) lines.push(`Deleted for good: ${looseText(loose, trash)}.`)
  return lines
}

/** How many bytes the vault lost by being packed, and by how many the limit is exceeded afterwards. */
export interface Packed {
  readonly freed: number
  readonly over: number
}

export function packedLines({ freed, over }: Packed, { maxMegabytes }: Trash): string[] {
  const lines: string[] = []
  if (freed > 0) lines.push(`The vault was packed, which freed ${sizeText(freed)}.`)
  if (over > 0)
    lines.push(
      `Trash and vault take ${sizeText(over)} more than trash.maxMegabytes (${maxMegabytes} MB), and nothing more can leave ` +
        'by itself. A smaller trash.keepDays lets closed tasks go sooner; a larger trash.maxMegabytes lets them stay.',
    )
  return lines
}
