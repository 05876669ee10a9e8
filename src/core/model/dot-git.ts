/**
 * Names that git refuses in a commit, because some system takes them for `.git`: Windows `git~1` and `.git `, macOS
 * `.GIT`. With one of them in a step, the step could never be published.
 */
import { type BytePath, toText } from './bytes.ts'

/** Characters that the file system of macOS ignores. */
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

/** Git reads settings from .gitmodules, and refuses to read them through a link. */
export function isRefusedLink(path: BytePath, mode: string): boolean {
  const name = toText(path.slice(path.lastIndexOf('/') + 1)).replace(overlooked, '')
  return mode === '120000' && /^(?:\.gitmodules|gitmod~[1-4]|gi7eba~[1-9])[ .]*(?::|$)/i.test(name)
}
