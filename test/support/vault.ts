/** Steps read back with plain git, to be compared with what lies in a workspace. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import type { OpenRepo } from '../../src/index.ts'
import { type TestRepo, testRepo } from './repo.ts'
import { library } from './workspace.ts'

/** Path, one character per byte → mode and content. Folders are there only as parts of paths, as in git. */
export type Content = Record<string, string>

export function vaultDir(repo: TestRepo): string {
  const vaults = path.join(repo.env.OFFSHOOT_HOME ?? '', 'vaults')
  const [name = ''] = readdirSync(vaults)
  return path.join(vaults, name)
}

/** Plain git on the vault; what the vault has not taken a copy of yet is read from the user's repository. */
function vaultGit(repo: TestRepo, args: readonly string[], input = ''): Buffer {
  const alternates = path.join(repo.dir, '.git', 'objects')
  return execFileSync('git', ['--git-dir', vaultDir(repo), ...args], {
    env: { ...repo.env, GIT_ALTERNATE_OBJECT_DIRECTORIES: alternates },
    input,
    stdio: ['pipe', 'pipe', 'pipe'],
    maxBuffer: 1 << 30,
  })
}

/** The commits of the only task's steps, from step 0 on. */
export function stepCommits(repo: TestRepo): string[] {
  const ref = vaultGit(repo, ['for-each-ref', '--format=%(refname)', 'refs/tasks']).toString().trim()
  return vaultGit(repo, ['rev-list', '--reverse', ref]).toString().trim().split('\n')
}

export function readTree(repo: TestRepo, commit: string): Content {
  const entries = vaultGit(repo, ['ls-tree', '-r', '-z', commit])
    .toString('latin1')
    .split('\0')
    .filter(Boolean)
    .map((line) => {
      const [head, file] = [line.slice(0, line.indexOf('\t')), line.slice(line.indexOf('\t') + 1)]
      const [mode = '', , oid = ''] = head.split(' ')
      return { file, mode, oid }
    })
  const wanted = entries.filter(({ mode }) => mode !== '160000')
  const output = vaultGit(repo, ['cat-file', '--batch'], wanted.map(({ oid }) => `${oid}\n`).join(''))
  const content: Content = {}
  let at = 0
  for (const { file, mode } of wanted) {
    const end = output.indexOf('\n', at)
    const size = Number(output.toString('latin1', at, end).split(' ')[2])
    content[file] = entry(mode, output.subarray(end + 1, end + 1 + size))
    at = end + 1 + size + 1
  }
  for (const { file, mode, oid } of entries) if (mode === '160000') content[file] = `${mode} ${oid}`
  return content
}

function entry(mode: string, bytes: Uint8Array): string {
  return `${mode} ${bytes.length} ${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`
}

/** Everything in the folder that a step can hold; `.git`, wherever it is, is left out. */
export function readFolder(folder: string, except: (file: string) => boolean = () => false): Content {
  const content: Content = {}
  const walk = (below: string) => {
    const at = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(below, 'latin1')])
    for (const name of readdirSync(at, { encoding: 'buffer' })) {
      const file = below + name.toString('latin1')
      if (name.toString('latin1') === '.git' || except(file)) continue
      const full = Buffer.concat([at, name])
      const stat = lstatSync(full)
      if (stat.isDirectory()) walk(`${file}/`)
      else if (stat.isSymbolicLink())
        content[file] = entry('120000', readlinkSync(full, { encoding: 'buffer' }))
      else if (stat.isFile())
        content[file] = entry(stat.mode & 0o100 ? '100755' : '100644', readFileSync(full))
    }
  }
  walk('')
  return content
}

/** A task under test, with what its workspace held at each step. */
export interface Recorded {
  readonly repo: TestRepo
  readonly lib: OpenRepo
  /** The workspace. */
  readonly dir: string
  /** By number of the step. */
  readonly states: Content[]
  /** Takes a step and checks that it holds the workspace byte for byte. */
  step(options?: StepOptions): Promise<Awaited<ReturnType<OpenRepo['checkpoint']>>>
  /** Goes back to a step and checks that the workspace is what it was then, and that the new step holds it. */
  rewind(to: number): Promise<void>
  /** Goes back to every step, the newest first. */
  rewindAll(): Promise<void>
}

interface StepOptions {
  readonly tool?: string
  readonly summary?: string
  readonly files?: string[]
  /** Asks what is ignored. */
  readonly ignored?: boolean
  /** Whether there is anything to capture. */
  readonly created?: boolean
}

export interface RecordedOptions {
  readonly files?: Record<string, string>
  /** Before the start: what the base commit and the user's settings are. */
  readonly before?: (repo: TestRepo) => void
  readonly isolation?: 'worktree' | 'clone'
  /** Paths that no step holds: ignored ones. */
  readonly except?: (file: string) => boolean
  /** Entries that a step has and the workspace has not: submodules, files outside of a sparse cone. */
  readonly more?: Content
}

export async function recorded(options: RecordedOptions = {}): Promise<Recorded> {
  const repo = testRepo(options.files)
  options.before?.(repo)
  const lib = library(repo)
  const { task } = await lib.start({ task: 'T1', isolation: options.isolation })
  const dir = task.path
  const present = () => ({ ...readFolder(dir, options.except), ...options.more })
  const states = [present()]

  const step: Recorded['step'] = async ({ created = true, ...input } = {}) => {
    const taken = await lib.checkpoint({ task: 'T1', ...input })
    expect(taken.created, 'created').toBe(created)
    if (taken.created) states.push(present())
    expect(readTree(repo, taken.checkpoint.commit)).toEqual(states.at(-1))
    return taken
  }
  const rewind = async (to: number) => {
    const { checkpoint } = await lib.rewind({ task: 'T1', to })
    expect(present(), `the workspace after the rewind to ${to}`).toEqual(states[to])
    expect(readTree(repo, checkpoint.commit), `the step of the rewind to ${to}`).toEqual(states[to])
    while (states.length <= checkpoint.n) states.push(states[to] ?? {})
  }
  // Step 0 is the workspace, and looking at it changes nothing.
  await step({ created: false })
  expect(readTree(repo, stepCommits(repo)[0] ?? '')).toEqual(states[0])
  const rewindAll = async () => {
    for (let to = states.length - 1; to >= 0; to--) await rewind(to)
  }
  return { repo, lib, dir, states, step, rewind, rewindAll }
}
