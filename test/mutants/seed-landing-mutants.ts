/** Bugs in what lands and in what comes back. A scenario of test/seeds must find each. */
import type { Mutant } from './mutant.ts'
import { atOnce, perTask, session, shadow } from './seed-suites.ts'

const patch = 'src/core/landing/patch.ts'
const inverse = 'src/core/operations/inverse.ts'

export const mutants: readonly Mutant[] = [
  {
    name: 'a patch is not merged with what the user has',
    file: patch,
    find: 'const merged = await contents.merge(repo, { ...sides, ours }, signal)',
    replace: 'const merged = { tree: theirs, conflicts: [] } as unknown as Merged',
    suites: [session],
    breaks: ['Verify patch application', '2.3: a patch that does not apply'],
  },
  {
    name: 'accept makes a commit by default',
    file: 'src/core/landing/index.ts',
    find: "return task.shadow ? 'squash' : 'patch'",
    replace: "return 'squash'",
    suites: [session],
    breaks: ['AcceptSession_', 'Accept applies changes'],
  },
  {
    name: 'a patch lands no new files',
    file: patch,
    find: 'files: { checkout: checkoutOf(work), moves }, landed: {} }',
    replace: 'files: { checkout: checkoutOf(work), moves: moves.filter(({ from }) => from) }, landed: {} }',
    suites: [session, atOnce],
    breaks: ['Accept applies changes', 'Concurrent Sessions', '5, 11'],
  },
  {
    name: 'a patch deletes nothing',
    file: patch,
    find: 'files: { checkout: checkoutOf(work), moves }, landed: {} }',
    replace: 'files: { checkout: checkoutOf(work), moves: moves.filter(({ to }) => to) }, landed: {} }',
    suites: [session],
    breaks: ['Multi-file changes'],
  },
  {
    name: 'a squash does not see its conflicts',
    file: 'src/core/landing/commit-build.ts',
    find: 'if (built.conflicts.length > 0) return',
    replace: 'if (built.conflicts.length > 99) return',
    suites: [shadow],
    breaks: ['7. Conflict handling'],
  },
  {
    name: 'an undo restores no files',
    file: inverse,
    find: 'files: files && { ...files, moves: swapped(files.moves) },',
    replace: 'files: undefined,',
    suites: [session],
    breaks: ['Works on', 'Multi-file changes', 'Cross-Platform'],
  },
  {
    name: 'an undo brings no folder back',
    file: inverse,
    find: "workspace: workspace && { ...workspace, to: workspace.to === 'trash' ? 'back' : 'trash' },",
    replace: 'workspace: undefined,',
    suites: [perTask('command')],
    breaks: ['AC-024'],
  },
  {
    name: 'a file is read as text',
    file: 'src/vault/capture/capture.ts',
    find: 'return bytes.subarray(0, at)',
    replace: "return Buffer.from(bytes.subarray(0, at).toString('utf8'))",
    suites: [session],
    breaks: ['Binary files handled properly'],
  },
  {
    name: 'of a large file only the beginning is kept',
    file: 'src/vault/capture/capture.ts',
    find: 'for (let at = 0; at < size; ) {',
    replace: 'for (let at = 0; at < Math.min(size, chunkSize); ) {',
    suites: [session],
    breaks: ['Large files (>100MB) work'],
  },
  {
    name: 'what was put away does not come back',
    file: 'src/core/operations/shadow.ts',
    find: 'const own = new Map(parked.files.moves.map((move) => [move.path, move.from]))',
    replace: 'const own = new Map<BytePath, Leaf | null>()',
    suites: [shadow],
    breaks: [
      '3. Uncommitted changes preservation, after accept',
      '3. Uncommitted changes preservation, after reject',
    ],
  },
]
