/** A user who has the agent that does what its prompt says. */
import path from 'node:path'
import type { TestRepo } from './repo.ts'
import { putStandIn, type StandInName } from './stand-in-program.ts'
import { withEnv } from './workspace.ts'

export { type Act, play } from './stand-in-program.ts'

/** The same user, with that agent in PATH as `claude`, or as one that speaks like another. */
export function withStandIn(repo: TestRepo, name: StandInName = 'claude'): TestRepo {
  const folder = path.join(repo.home, 'bin')
  putStandIn(folder, name)
  return withEnv(repo, { PATH: `${folder}${path.delimiter}${repo.env.PATH}` })
}
