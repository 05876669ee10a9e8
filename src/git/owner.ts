/** Whose files a repository is made of, by git's own rule. */
import path from 'node:path'
import type { Place } from '../core/model/repo.ts'
import { lstatOf, statOf } from './look.ts'

/** The parts of a repository that belong to somebody else: its folder, `.git`, git folder and common folder. */
export function foreignParts(folder: string, { gitDir, commonDir }: Place): string[] {
  const uid = process.geteuid?.()
  if (uid === undefined) return []
  const parts = new Set([folder, path.join(folder, '.git'), gitDir, commonDir])
  // A link and its target both say which files are read.
  const owners = (part: string) => [lstatOf(part), statOf(part)].flatMap((found) => found?.uid ?? [])
  return [...parts].filter((part) => !owners(part).every((owner) => isOwn(owner, uid, process.env.SUDO_UID)))
}

/** Root may also work in the repository of the user who called sudo. Pure. */
export function isOwn(owner: number, uid: number, sudoUid: string | undefined): boolean {
  if (owner === uid) return true
  return uid === 0 && sudoUid !== undefined && /^\d+$/.test(sudoUid) && owner === Number(sudoUid)
}
