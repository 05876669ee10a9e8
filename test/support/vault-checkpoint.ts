/** Takes a checkpoint as a process of its own, as the hook of an agent does. */
import { openRepo } from '../../src/index.ts'

const [repo = ''] = process.argv.slice(2)
const lib = openRepo(repo)
await lib.checkpoint({
  task: process.env.OFFSHOOT_TASK,
  run: process.env.OFFSHOOT_RUN,
  tool: 'Inside',
  summary: 'the run',
})
await lib.close()
