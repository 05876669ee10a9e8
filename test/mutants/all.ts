/** The lists of this folder, joined: every `*-mutants.ts` exports one as `mutants`. */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import type { Mutant } from './mutant.ts'

export async function readMutants(): Promise<readonly Mutant[]> {
  const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith('-mutants.ts'))
  const lists = await Promise.all(
    names.map(
      (name) => import(path.join(import.meta.dirname, name)) as Promise<{ mutants: readonly Mutant[] }>,
    ),
  )
  return lists.flatMap(({ mutants }) => mutants)
}
