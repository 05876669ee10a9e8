/** Where the links of a tree lead, followed one component at a time as the system does. Pure. */
import type { BytePath } from '../model/bytes.ts'
import { isRefused } from '../model/dot-git.ts'

/** The links of a tree with their targets, and its folders. */
export interface LinkTree {
  readonly links: ReadonlyMap<BytePath, string>
  readonly folders: ReadonlySet<BytePath>
}

/** Linux follows no more links than this on the way of one path. */
const mostFollowed = 40

/**
 * Why the link may not land; undefined if it stays inside. `d -> .` makes `d/d/../..` a place above the repository, although
 * its text stays below, so the text alone does not say where a link leads. Behind a component that is not in the tree, `..`
 * could be anywhere.
 */
export function whyRefused(link: BytePath, { links, folders }: LinkTree): string | undefined {
  const out = 'a link that leads out of the repository'
  const at = link.split('/').slice(0, -1)
  const rest = (links.get(link) ?? '').split('/').reverse()
  if (links.get(link)?.startsWith('/')) return out
  let isKnown = true
  for (let followed = 0; rest.length > 0 && followed <= mostFollowed; ) {
    const part = rest.pop() ?? ''
    if (part === '' || part === '.') continue
    if (part === '..') {
      if (!isKnown || at.pop() === undefined) return out
      continue
    }
    if (isRefused(part)) return 'a link that leads into the folder of git'
    const here = [...at, part].join('/')
    const target = links.get(here)
    if (target === undefined) {
      at.push(part)
      isKnown &&= folders.has(here)
      continue
    }
    if (target.startsWith('/')) return out
    rest.push(...target.split('/').reverse())
    followed++
  }
  return undefined
}

/** The folders above these files; a submodule is one as well. */
export function foldersOf(files: Iterable<BytePath>): Set<BytePath> {
  const folders = new Set<BytePath>()
  for (const file of files) {
    for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1)) {
      if (folders.has(file.slice(0, end))) break
      folders.add(file.slice(0, end))
    }
  }
  return folders
}
