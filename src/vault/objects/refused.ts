/**
 * Names that git has in no commit, because somewhere they would be `.git`: on Windows `git~1` and `.git ` are, on a
 * Mac `.GIT` is. One of them in a step would keep all of it from ever being published.
 */
import { type BytePath, toText } from '../../core/model/bytes.ts'

/** Characters that a Mac's file system overlooks. */
const overlooked = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g
const dotGit = /^\.git$/i
const shortName = /^(?:\.git|git~1)[ .]*(?:[:\\]|$)/i

export function isRefused(path: BytePath): boolean {
  return path.split('/').some(isDotGit)
}

function isDotGit(name: BytePath): boolean {
  if (!/git/i.test(name) && !/\xe2|\xef/.test(name)) return false
  return (
    dotGit.test(toText(name).replace(overlooked, '')) || name.split('\\').some((part) => shortName.test(part))
  )
}

/** Git takes .gitmodules for settings, and settings must not lie elsewhere. */
export function isRefusedLink(path: BytePath, mode: string): boolean {
  const name = toText(path.slice(path.lastIndexOf('/') + 1)).replace(overlooked, '')
  return mode === '120000' && /^(?:\.gitmodules|gitmod~[1-4]|gi7eba~[1-9])[ .]*(?::|$)/i.test(name)
}
