import type { Reporter, TestModule } from 'vitest/node'

/** Ends the output with one plain line that a machine can read: `12 passed, 0 failed, 1 skipped`. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]) {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (state: string) => tests.filter((test) => test.result().state === state).length
    // A module or a suite that broke outside its tests, and a stray rejection, fail the run as well.
    const broken = modules
      .flatMap((module) => [module, ...module.children.allSuites()])
      .filter((owner) => owner.errors().length > 0)
    const failed = count('failed') + broken.length + unhandled.length
    const skipped = tests.length - count('passed') - count('failed')
    console.log(`${count('passed')} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`)
  }
}
