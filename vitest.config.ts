import { defineConfig } from 'vitest/config'

const minute = 60_000

const project = (name: string, include: string, timeout?: number) => ({
  extends: true as const,
  test: { name, include: [include], ...(timeout && { testTimeout: timeout, hookTimeout: timeout }) },
})

export default defineConfig({
  test: {
    pool: 'forks',
    // Most of the time they wait for git and the disk.
    maxWorkers: 3,
    passWithNoTests: true,
    globalSetup: './test/support/temp-folders-setup.ts',
    reporters: ['default', './test/support/hints/tally-line.ts', './test/support/closing-line.ts'],
    coverage: {
      include: ['src/**/*.ts'],
      exclude: ['src/**/*.test.ts'],
      reporter: ['text', 'text-summary', 'json-summary'],
      // What runs in the command's own processes is not counted: these folders are reached without them.
      thresholds: Object.fromEntries(
        ['core', 'vault', 'checkout', 'isolation', 'store', 'git'].map((folder) => [
          `src/${folder}/**`,
          { lines: 90 },
        ]),
      ),
    },
    projects: [
      project('unit', 'src/**/*.test.ts', minute / 2),
      project('contracts', 'test/contracts/**/*.test.ts', minute),
      project('journeys', 'test/journeys/**/*.test.ts', 2 * minute),
      project('recovery', 'test/recovery/**/*.test.ts', 2 * minute),
      project('runs', 'test/runs/**/*.test.ts', 2 * minute),
      project('doors', 'test/doors/**/*.test.ts', 2 * minute),
      project('seeds', 'test/seeds/**/*.test.ts', 2 * minute),
      project('sim', 'test/sim/**/*.test.ts', 5 * minute),
      project('slow', 'test/slow/**/*.test.ts', 10 * minute),
      project('agents', 'test/agents/**/*.test.ts', 5 * minute),
      project('faults', 'test/faults/**/*.test.ts', 10 * minute),
      project('attacks', 'test/attacks/**/*.test.ts', 5 * minute),
      project('hints', 'test/hints/**/*.test.ts', 5 * minute),
      project('power', 'test/power/**/*.test.ts', 10 * minute),
    ],
  },
})
