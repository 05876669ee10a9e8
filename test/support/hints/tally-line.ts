import type { Reporter, TestModule } from 'vitest/node'
import { prose } from '../../hints/prose.ts'

/** Says at the end of `npm run test:hints` how many hints were tried and work: `hints: 312 tried, 312 working, 4 only told`. */
export default class TallyLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]) {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const tallies = tests.flatMap((test) => test.meta().hints ?? [])
    if (tallies.length === 0) return
    const count = (of: 'tried' | 'working' | 'told') => new Set(tallies.flatMap((tally) => tally[of])).size
    console.log(
      `hints: ${count('tried')} tried, ${count('working')} working, ${count('told') + prose.length} only told`,
    )
  }
}
