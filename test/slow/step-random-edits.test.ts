import {
  appendFileSync,
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { endOnFailure, fc, repetitions, seed } from '../support/random.ts'
import { testRepo } from '../support/repo.ts'
import { type Content, readFolder, readTree, stepCommits } from '../support/vault.ts'
import { library, withEnv } from '../support/workspace.ts'

/** Few names, so that they meet again: as a file, as a folder, as a link, ignored and not. */
const name = fc.constantFrom('a', 'b', 'a.ign', 'c d', '-x', 'é')
const file = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
const content = fc.oneof(fc.constantFrom('', 'x', 'y', 'x\r\n'), fc.string({ maxLength: 40 }))

type Operation =
  | { readonly kind: 'write' | 'append' | 'link'; readonly file: string; readonly content: string }
  | { readonly kind: 'delete' | 'truncate' | 'folder' | 'executable' | 'plain'; readonly file: string }
  | { readonly kind: 'rename'; readonly file: string; readonly to: string }
  | { readonly kind: 'ignore'; readonly rules: string }
  | { readonly kind: 'checkpoint' }
  | { readonly kind: 'reopen' }
  | { readonly kind: 'rewind'; readonly to: number }

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('write' as const), file, content }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('append' as const, 'link' as const), file, content }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom('delete', 'truncate', 'folder', 'executable', 'plain') as fc.Arbitrary<'delete'>,
      file,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rename' as const), file, to: file }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('ignore' as const), rules: fc.constantFrom('*.ign', '', 'b') }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('checkpoint' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rewind' as const), to: fc.nat(20) }) },
)

/** What cannot be done, because a file is where a folder would have to be, is not done. */
function apply(dir: string, step: Operation): void {
  const at = (below: string) => path.join(dir, below)
  const full = 'file' in step ? at(step.file) : ''
  try {
    if ('file' in step && isBehindLink(dir, step.file)) return
    if (step.kind === 'write' || step.kind === 'link') {
      if (lstatSync(full, { throwIfNoEntry: false })) rmSync(full, { recursive: true })
      mkdirSync(path.dirname(full), { recursive: true })
    }
    if (step.kind === 'write') writeFileSync(full, step.content)
    if (step.kind === 'append') appendFileSync(full, step.content)
    if (step.kind === 'link') symlinkSync(step.content.replaceAll('\0', '0') || 'nowhere', full)
    if (step.kind === 'delete') rmSync(full, { recursive: true })
    if (step.kind === 'truncate') truncateSync(full, 1)
    if (step.kind === 'folder') mkdirSync(full, { recursive: true })
    if (step.kind === 'executable' || step.kind === 'plain') {
      if (lstatSync(full).isFile()) chmodSync(full, step.kind === 'executable' ? 0o755 : 0o644)
    }
    if (step.kind === 'rename' && !isBehindLink(dir, step.to)) {
      mkdirSync(path.dirname(at(step.to)), { recursive: true })
      renameSync(full, at(step.to))
    }
    if (step.kind === 'ignore') writeFileSync(at('.gitignore'), `${step.rules}\n`)
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code) throw error
  }
}

function isBehindLink(dir: string, name: string): boolean {
  for (let part = name; part !== '.'; part = path.dirname(part)) {
    const found = lstatSync(path.join(dir, part), { throwIfNoEntry: false })
    if (found?.isSymbolicLink()) return true
  }
  return false
}

/** An own reading of the rules: all that is there, but for what is ignored and was in no step before. */
function expected(dir: string, before: Content): Content {
  const present = readFolder(dir)
  const rules = path.join(dir, '.gitignore')
  const rule = lstatSync(rules, { throwIfNoEntry: false })?.isFile() ? readFileSync(rules, 'utf8').trim() : ''
  const isIgnored = (file: string) =>
    file
      .split('/')
      .some((part) => (rule === '*.ign' && part.endsWith('.ign')) || (rule === 'b' && part === 'b'))
  return Object.fromEntries(
    Object.entries(present).filter(([file]) => !isIgnored(file) || before[file] !== undefined),
  )
}

function without(content: Content, known: Content): Content {
  return Object.fromEntries(Object.entries(content).filter(([file]) => known[file] === undefined))
}

const numRuns = 60 * repetitions

test('K5: after any sequence of changes a step is the workspace, and every step can be gone back to', async () => {
  let steps = 0
  let rewinds = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(operation, { minLength: 8, maxLength: 30, size: 'max' }),
      async (operations) => {
        const made = testRepo({ 'a/a': 'one\n', b: 'two\n', 'c d/a.ign': 'three\n' })
        // What the steps become in the user's repository is not the question here.
        const repo = withEnv(made, { OFFSHOOT_CHECKPOINTS_PUBLISH: 'never' })
        let lib = library(repo)
        const { task } = await lib.start({ task: 'T1' })
        const dir = task.path
        const states = [readFolder(dir)]
        const checkpoint = async () => {
          const { created, checkpoint } = await lib.checkpoint({ task: 'T1' })
          const wanted = expected(dir, states.at(-1) ?? {})
          if (created) states.push(wanted)
          steps += Number(created)
          expect(readTree(repo, checkpoint.commit)).toEqual(wanted)
          expect(checkpoint.n).toBe(states.length - 1)
        }
        const rewind = async (to: number) => {
          await checkpoint()
          const wanted = states[to] ?? {}
          const ignored = without(readFolder(dir), states.at(-1) ?? {})
          const { checkpoint: made } = await lib.rewind({ task: 'T1', to })
          expect(readTree(repo, made.commit)).toEqual(wanted)
          // Beside the files of the step there is only what was ignored, as it was.
          const there = readFolder(dir)
          const left = without(there, wanted)
          expect({ ...wanted, ...left }).toEqual(there)
          for (const file of Object.keys(left)) expect(left[file]).toBe(ignored[file])
          while (states.length <= made.n) states.push(wanted)
          rewinds++
        }
        for (const step of operations) {
          if (step.kind === 'checkpoint') await checkpoint()
          else if (step.kind === 'rewind') await rewind(step.to % states.length)
          else if (step.kind === 'reopen') {
            await lib.close()
            lib = library(repo)
          } else apply(dir, step)
        }
        await checkpoint()
        await rewind(operations.length % states.length)
        await rewind(0)
        expect(stepCommits(repo)).toHaveLength(states.length)
        await lib.close()
        rmSync(repo.home, { recursive: true, force: true })
      },
    ),
    { numRuns, endOnFailure },
  )
  console.log(`step-random-edits: seed ${seed}, ${numRuns} sequences, ${steps} steps, ${rewinds} rewinds`)
}, 600_000)
