import { expect, test } from 'vitest'
import type { Ports } from '../ports/index.ts'
import { start } from './start.ts'

test.each([
  [
    { branch: 'a', existingBranch: 'b' },
    '--branch cannot be combined with --existing-branch: one makes a new branch, the other uses an old one.',
  ],
  [
    { from: 'a', existingBranch: 'b' },
    '--from cannot be combined with --existing-branch: it names the start of a new branch.',
  ],
  [
    { from: 'a', isolation: 'branch' as const },
    '--from cannot be combined with --isolation branch, which starts from what is checked out.',
  ],
  [
    { existingBranch: 'a', isolation: 'branch' as const },
    '--existing-branch cannot be combined with --isolation branch, which starts from what is checked out.',
  ],
  [{ dirty: true, from: 'a' }, '--dirty cannot be combined with --from: it starts from what is checked out.'],
  [
    { dirty: true, existingBranch: 'a' },
    '--dirty cannot be combined with --existing-branch: it starts from what is checked out.',
  ],
  [
    { dirty: true, isolation: 'branch' as const },
    '--dirty cannot be combined with --isolation branch, which puts uncommitted work away.',
  ],
  [
    { existingBranch: 'a', isolation: 'clone' as const },
    '--existing-branch cannot be combined with --isolation clone, which has branches of its own.',
  ],
])('I5: options that exclude each other are refused before anything is read: %o', async (input, message) => {
  // Without any port: reading one would fail with another error.
  await expect(start({} as Ports, { dir: '/nowhere', ...input })).rejects.toMatchObject({
    code: 'WT_019',
    message,
  })
})
