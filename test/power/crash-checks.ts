/** What must hold after a power cut and a recovery, whatever was not synced by then. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { appError } from '../../src/core/model/errors.ts'
import { difference } from '../faults/folder-tree.ts'
import { findVault, ourBranch, readSnapshot, type Snapshot } from '../faults/full-snapshot.ts'
import { isSound } from '../faults/invariants.ts'
import type { Baseline, Fixture } from '../faults/journey-runner.ts'
import { type Summary, summarize } from '../faults/summary.ts'
import { keepsEverything } from '../faults/vault-checks.ts'
import { call } from '../support/call.ts'

/**
 * What was acknowledged is there, what was not is whole or not there at all, and both repositories are sound. Folders of
 * workspaces, their registration and the trash may be behind: nobody syncs what an agent writes, and the next use of a
 * task makes its folder again.
 */
export async function wrongAfterCut(
  baseline: Baseline,
  acknowledged: boolean,
  undisturbed: Snapshot,
): Promise<string[]> {
  const { fixture, before, summaries } = baseline
  try {
    const ports = fixture.ports()
    try {
      await call(ports, 'system.recover', {})
    } finally {
      await ports.close()
    }
    const after = await readSnapshot(fixture)
    const done = after.operations.length > before.operations.length
    return [
      ...(summaries
        ? await onOneSide(baseline, summaries[done ? 'after' : 'before'], after, done)
        : untouched(before, after)),
      ...(acknowledged ? missing(undisturbed, after) : []),
      ...after.pending.map((task) => `${task.pending?.verb} of ${task.id} is still pending`),
      ...unnoted(fixture, after),
      ...(await keepsEverything(fixture, before, after)),
      ...(await isSound(fixture)),
    ]
  } catch (thrown) {
    return [`recovery threw ${appError(thrown).stack}`]
  }
}

/** P1, A4: the checkout, its index and the user's refs. */
async function onOneSide(
  { fixture, before }: Baseline,
  side: Summary,
  after: Snapshot,
  done: boolean,
): Promise<string[]> {
  const now = await summarize(fixture, before, after)
  const asRecord = (lines: readonly string[]) => Object.fromEntries(lines.map((line) => [line, line]))
  return [
    ...difference(side.files, now.files),
    ...difference(asRecord(side.index), asRecord(now.index)).map((line) => `index: ${line}`),
    ...difference(side.refs, now.refs),
  ].map((line) => `${done ? 'done' : 'not done'}, but ${line}`)
}

function untouched(before: Snapshot, after: Snapshot): string[] {
  const isFile = (name: string) => !name.startsWith('.git/')
  const files = ({ user }: Snapshot) =>
    Object.fromEntries(Object.entries(user).filter(([name]) => isFile(name)))
  return [...difference(files(before), files(after)), ...difference(before.refs, after.refs)].map(
    (line) => `P1: ${line}`,
  )
}

/** Steps, operations and the branch of an undisturbed run. */
function missing(undisturbed: Snapshot, after: Snapshot): string[] {
  const counts = (snapshot: Snapshot) => ({
    steps: Object.values(snapshot.steps).map((steps) => steps.length),
    operations: snapshot.operations.length,
    branch: snapshot.ourRefs[ourBranch],
    tasks: snapshot.open.length,
  })
  return difference(counts(undisturbed), counts(after)).map((line) => `acknowledged, but ${line}`)
}

/** P2.12: the vault knows of every operation that the records call done. */
function unnoted(fixture: Fixture, after: Snapshot): string[] {
  const file = path.join(findVault(fixture) ?? 'none', 'operations.jsonl')
  const noted = after.operations.length > 0 ? readFileSync(file, 'utf8') : ''
  return after.operations
    .filter(({ id }) => !noted.includes(id))
    .map(({ verb }) => `the vault does not know that the ${verb} is done`)
}
