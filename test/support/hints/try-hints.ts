/** Makes tests of situations: each hint in them is provoked, read in the output, and typed as it is printed. */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Hint } from './collect.ts'
import { makeShim, type Person, personIn } from './person.ts'
import { hintNamed, namesIn, ourHints } from './rows.ts'

/** A situation, or several in one repository, with the hints that it shows. */
export interface Scenario {
  readonly name: string
  /** Why it cannot be had on this machine, if so, and the hints that are then only told. */
  readonly needs?: { readonly why: string | undefined; readonly hints: readonly string[] }
  /** `meet` makes a person with a repository of their own. */
  play(meet: (files?: Readonly<Record<string, string>>) => Person): Promise<void>
}

declare module 'vitest' {
  interface TaskMeta {
    /** What a file of `test/hints` came to; `tally-line.ts` adds it up. */
    hints?: { readonly tried: string[]; readonly working: string[]; readonly told: string[] }
  }
}

/** Every hint that the file names has to work in one of its scenarios. */
export function tryHints(file: string, scenarios: readonly Scenario[]): void {
  const hints = ourHints()
  const tally = { hints, tried: new Set<Hint>(), working: new Set<Hint>() }
  const shim = makeShim()
  const folder = mkdtempSync(path.join(os.tmpdir(), 'offshoot-people-'))
  afterAll(() => {
    for (const one of [shim, folder]) rmSync(one, { recursive: true, force: true })
  })

  describe('I5: every hint works where it is shown', () => {
    test.each(scenarios)('$name', async ({ play, needs }) => {
      if (needs?.why !== undefined) return console.log(`not here: ${needs.why}`)
      await play((files) => personIn(folder, shim, tally, files))
    })

    test(`every hint that ${path.basename(file)} names was tried, and works`, ({ task }) => {
      const told = new Set(
        scenarios.flatMap(({ needs }) => (needs?.why === undefined ? [] : needs.hints)).map(hintOf),
      )
      task.meta.hints = {
        tried: Array.from(tally.tried, nameOf),
        working: Array.from(tally.working, nameOf),
        told: Array.from(told, nameOf),
      }
      const named = new Set(namesIn(file).map(hintOf))
      const left = [...named].filter((hint) => !tally.working.has(hint) && !told.has(hint))
      expect(left.map(nameOf)).toEqual([])
    })
  })

  function hintOf(name: string): Hint {
    return hintNamed(hints, name)
  }
}

const nameOf = ({ file, text }: Hint) => `${file}: ${text}`
