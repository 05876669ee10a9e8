/** Refuses options of a new task that exclude each other, before anything is read. */
import { type Exclusion, requireCombinable } from '../base/exclusions.ts'
import type { StartInput } from './start-task.ts'

/** Throws `wrongUsage` for the first two options that cannot be combined. Pure. */
export function requireStartOptions(input: StartInput): void {
  requireCombinable(optionsIn(input), exclusions)
}

type Option =
  | '--branch'
  | '--dirty'
  | '--existing-branch'
  | '--from'
  | '--isolation branch'
  | '--isolation clone'

function optionsIn(input: StartInput): Record<Option, unknown> {
  return {
    '--branch': input.branch,
    '--dirty': input.dirty,
    '--existing-branch': input.existingBranch,
    '--from': input.from,
    '--isolation branch': input.isolation === 'branch',
    '--isolation clone': input.isolation === 'clone',
  }
}

const shadowed = {
  why: ', which starts from what is checked out',
  hint: 'Leave it out, or check that branch out first.',
}
const dirty = { why: ': it starts from what is checked out', hint: 'Leave one of them out.' }

const exclusions: readonly Exclusion<Option>[] = [
  {
    options: ['--branch', '--existing-branch'],
    why: ': one makes a new branch, the other uses an old one',
  },
  { options: ['--from', '--existing-branch'], why: ': it names the start of a new branch' },
  { options: ['--from', '--isolation branch'], ...shadowed },
  { options: ['--existing-branch', '--isolation branch'], ...shadowed },
  { options: ['--dirty', '--from'], ...dirty },
  { options: ['--dirty', '--existing-branch'], ...dirty },
  { options: ['--dirty', '--isolation branch'], why: ', which puts uncommitted work away' },
  { options: ['--existing-branch', '--isolation clone'], why: ', which has branches of its own' },
]
