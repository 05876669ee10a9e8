/** Whether the sources still have the place at which a bug is to be planted. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Mutant } from './mutant.ts'

/** Why the bug cannot be planted; undefined if it can. */
export function misplaced(root: string, { name, file, find, replace, suites }: Mutant): string | undefined {
  const at = path.join(root, file)
  if (!existsSync(at)) return `${name}: there is no ${file}.`
  const times = readFileSync(at, 'utf8').split(find).length - 1
  if (times !== 1)
    return `${name}: ${file} has the place ${times} times, not once. Move the bug along with the code.`
  if (find === replace) return `${name}: it changes nothing.`
  const missing = suites.find((suite) => !existsSync(path.join(root, suite)))
  return missing === undefined ? undefined : `${name}: there is no ${missing}.`
}
