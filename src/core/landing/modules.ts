/** Lets no pointer of a submodule land whose commit exists nowhere but in the workspace, which is closed afterwards. */
import { type BytePath, fromText, toText } from '../model/bytes.ts'
import { quoted } from '../base/shell-quote.ts'
import { AppError } from '../model/errors.ts'
import type { ModulePointer } from '../model/git.ts'
import { branchRef } from '../model/refs.ts'
import type { LandingWork } from './strategy.ts'

/** Brings the commits into the user's own copies of the submodules; throws `policyRefused` where that cannot be done. */
export async function bringPointers({ ports, repo, task, offer, signal }: LandingWork): Promise<void> {
  // On a shadow branch the agent works in the user's own copies.
  if (task.shadow) return
  const moved = new Map<BytePath, string>()
  for (const [file, { to }] of await ports.contents.compare(repo, offer.base, offer.theirs))
    if (to?.mode === '160000') moved.set(file, to.oid)
  if (moved.size === 0) return
  const listed = await ports.contents.findLeaf(repo, offer.theirs, fromText('.gitmodules'))
  const names = moduleNames(listed ? (await ports.contents.readContent(repo, listed)).toString() : '')
  const pointers = Array.from(moved, ([file, commit]): ModulePointer => {
    const path = toText(file)
    return { name: names.get(path) ?? path, path, commit }
  })
  const lost = await ports.isolations.bringModules(repo, task, pointers, signal)
  const [first] = lost
  if (!first) return
  throw new AppError(
    'policyRefused',
    `Not landed: ${lost.map(({ path, why }) => `${path} (${why})`).join(', ')}.`,
    {
      path: first.path,
      hint: `Push it, then repeat: git -C ${quoted(`${task.path}/${first.path}`)} push origin HEAD:${branchRef(task.id)}. Or land the rest as a patch: --as patch`,
      data: { refused: lost },
    },
  )
}

/** The name of each submodule by its path. */
function moduleNames(text: string): Map<string, string> {
  const names = new Map<string, string>()
  let name: string | undefined
  for (const line of text.split('\n')) {
    const section = /^\s*\[\s*(\w+)(?:\s+"(.*)")?\s*\]/.exec(line)
    if (section) name = section[1]?.toLowerCase() === 'submodule' ? section[2] : undefined
    const [, path] = /^\s*path\s*=\s*"?(.+?)"?\s*$/.exec(line) ?? []
    if (path !== undefined && name !== undefined) names.set(path, name)
  }
  return names
}
