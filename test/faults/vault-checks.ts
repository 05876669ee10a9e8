/** What the vault must hold after recovery: every step, whole, and every byte that would otherwise be gone. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { appError } from '../../src/core/model/errors.ts'
import type { Fixture } from './journey-runner.ts'
import { contentsOf, difference, type Tree } from './folder-tree.ts'
import { findVault, type Snapshot } from './full-snapshot.ts'

const run = promisify(execFile)

/** P2, P3: every step, and every byte that the user or the agent had, is somewhere. */
export async function keepsEverything(
  fixture: Fixture,
  before: Snapshot,
  after: Snapshot,
): Promise<string[]> {
  const vault = findVault(fixture)
  const kept =
    vault === undefined ? '' : await inVault(fixture, 'rev-list', '--objects', '--all').catch(appError)
  if (typeof kept !== 'string') return [`the vault is not whole: ${kept.message}`]
  const held = new Set([
    ...kept.split('\n').map((line) => line.slice(0, 40)),
    ...[after.user, ...Object.values(after.workspaces), ...Object.values(after.trash)].flatMap(contentsOf),
  ])
  const had = { checkout: before.user, ...before.workspaces }
  const lost = (operation: Snapshot['operations'][number]) =>
    !existsSync(path.join(vault ?? 'none', 'refs/operations', operation.id)) ||
    !after.operations.some(({ id }) => id === operation.id)
  return [
    ...[...before.operations, ...after.operations]
      .filter(lost)
      .map(({ verb }) => `the ${verb} is not on record`),
    ...Object.entries(had).flatMap(([where, tree]) =>
      Object.keys(tree)
        .filter((file) => !file.startsWith('.git') || file === '.gitignore')
        .filter((file) => !held.has(contentsOf({ [file]: tree[file]! })[0]!))
        .map((file) => `what ${file} of ${where} held is nowhere`),
    ),
    ...Object.entries(before.steps).flatMap(([uid, steps]) =>
      steps
        .filter(({ n, commit }) => after.steps[uid]?.[n]?.commit !== commit)
        .map(({ n }) => `step ${n} is lost`),
    ),
  ]
}

/** P2, K5: a step that was acknowledged holds the workspace as it is. */
export async function holdsAll(fixture: Fixture, before: Snapshot, after: Snapshot): Promise<string[]> {
  const wrong: string[] = []
  for (const task of after.open) {
    const [steps, files] = [after.steps[task.uid] ?? [], after.workspaces[path.basename(task.path)]]
    if (files === undefined || steps.length <= (before.steps[task.uid]?.length ?? 0)) continue
    if (!(await isKnown(fixture, files, undefined, steps))) wrong.push('the last step is not the workspace')
  }
  return wrong
}

export async function inVault(fixture: Fixture, ...args: string[]): Promise<string> {
  const objects = path.join(fixture.dir, '.git/objects')
  const env = { ...fixture.env, GIT_ALTERNATE_OBJECT_DIRECTORIES: objects }
  return (await run('git', ['--git-dir', findVault(fixture)!, ...args], { env })).stdout
}

/** Whether a workspace is as it was, or as its last step has it; what no step holds is left out of account then. */
export async function isKnown(
  fixture: Fixture,
  files: Tree,
  then: Tree | undefined,
  steps: Snapshot['steps'][string] = [],
): Promise<boolean> {
  if (then && difference(then, files).length === 0) return true
  const step = steps.at(-1)
  if (step === undefined) return false
  const listed = (await inVault(fixture, 'ls-tree', '-r', step.tree)).split('\n').filter(Boolean)
  const held = listed.map((line) => /^(\d+) \w+ (\w+)\t(.*)$/.exec(line) ?? [])
  const modes: Record<string, string> = { '100644': '644', '100755': '755', '120000': 'link' }
  // A submodule is a pointer, whatever is checked out there.
  const own = held.filter(([, mode]) => mode !== '160000')
  return own.every(([, mode, oid, file]) => files[file!] === `${modes[mode!]} ${oid}`)
}
