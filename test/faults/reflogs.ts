import { lstatSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { blobId, type Tree } from './folder-tree.ts'

const both = /^(\w+) (\w+) .*\toffshoot: \w+ (\w+)\n\2 \1 .*\toffshoot: undo \3\n/gm

/**
 * A branch that was moved and moved back, as something else could not be written, is where it was; its log tells of
 * both. What is in a git folder, as if it did not.
 */
export function withoutTakenBack(gitDir: string, tree: Tree): Tree {
  return Object.fromEntries(
    Object.entries(tree).map(([name, value]) => {
      const file = path.join(gitDir, name)
      if (!name.startsWith('logs/') || !lstatSync(file).isFile()) return [name, value]
      const text = readFileSync(file, 'latin1')
      const rest = text.replaceAll(both, '')
      return [name, rest === text ? value : `${value.split(' ')[0]} ${blobId(Buffer.from(rest, 'latin1'))}`]
    }),
  )
}
