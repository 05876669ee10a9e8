/** The library with something around its adapters: a fault, a second writer, a clock. Users cannot open it this way. */
import { type ComposeOptions, compose } from '../../src/compose/full.ts'
import { type OpenRepo, repoOn } from '../../src/library/repo.ts'

export function openAround(dir: string, options: ComposeOptions): OpenRepo {
  return repoOn(compose({ named: dir, ...options }), dir)
}
