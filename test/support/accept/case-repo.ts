/** A repository in which one case after the other is checked: the user, the agent and the library at work. */
import { execFile } from 'node:child_process'
import { lstatSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { quickFolder, testRepo } from '../repo.ts'
import { library } from '../workspace.ts'
import { readTree, writeTree } from './disk.ts'
import { isIgnored } from './edits.ts'
import type { Layers } from './reference.ts'
import { changes, listed, type Tree, without } from './tree.ts'

const run = promisify(execFile)

/** All of the user's that an accept may change and an undo has to bring back. */
export interface State {
  /** Mode, with all of its bits, kind and content. */
  readonly files: Record<string, string>
  readonly index: Record<string, string>
  readonly head: string
  readonly refs: string
}

export type CaseRepo = Awaited<ReturnType<typeof makeCaseRepo>>

export async function makeCaseRepo() {
  const repo = testRepo({}, quickFolder())
  repo.git('config', '--global', 'user.name', 'User')
  repo.git('config', '--global', 'user.email', 'user@example.com')
  const lib = library(repo)
  let [count, there] = [0, new Map() as Tree]
  const git = async (...args: string[]) => (await run('git', args, { cwd: repo.dir, env: repo.env })).stdout
  const write = (tree: Tree) => {
    writeTree(repo.dir, there, tree)
    there = tree
  }
  const commit = async (tree: Tree, message: string) => {
    write(tree)
    await git('add', '--all')
    await git('commit', '--quiet', '--allow-empty', `--message=${message}`)
  }
  const edit = async ({ head, index, files }: Layers) => {
    if (changes(there, head).size > 0) await commit(head, 'Edited')
    if (changes(there, index).size > 0) {
      write(index)
      await git('add', '--all')
    }
    write(files)
  }
  return {
    dir: repo.dir,
    lib,
    git,
    /** A task that starts from the tree, or from what the user has on top of it, with the steps that an agent has made. */
    async work(base: Tree, steps: readonly Tree[], dirty?: Layers) {
      await commit(base, 'Base')
      if (dirty) await edit(dirty)
      const { task } = await lib.start({ task: `T${++count}`, dirty: dirty !== undefined })
      let before = without(dirty?.files ?? base, isIgnored)
      for (const step of steps) {
        writeTree(task.path, before, step)
        before = step
        await lib.checkpoint({ task: task.id })
      }
      return task
    },
    edit,
    /** To be called when something else than the user has written the checkout. */
    look: () => {
      there = readTree(repo.dir)
      return listed(there)
    },
    index: async () => parse(await git('ls-files', '--stage', '-z')),
    tree: async (rev: string) => parse(await git('ls-tree', '-r', '-z', rev)),
    readIndexFile: () => readFileSync(path.join(repo.dir, '.git', 'index')).toString('base64'),
    async state(): Promise<State> {
      there = readTree(repo.dir)
      const files = Object.entries(listed(there)).map(([file, leaf]) => {
        const mode = lstatSync(path.join(repo.dir, file)).mode.toString(8)
        return [file, `${mode} ${leaf}`] as const
      })
      return {
        files: Object.fromEntries(files),
        index: parse(await git('ls-files', '--stage', '-z')),
        head: readFileSync(path.join(repo.dir, '.git', 'HEAD'), 'utf8'),
        refs: await git('for-each-ref', '--format=%(refname) %(objectname)'),
      }
    },
  }
}

/** `<mode> [blob ]<id>[ <stage>] TAB <path>` by path. */
function parse(output: string): Record<string, string> {
  const lines = output.split('\0').filter(Boolean)
  return Object.fromEntries(
    lines.map((line) => {
      const [, mode, id, stage = '0', file = ''] = /^(\d+) (?:blob )?(\w+)(?: (\d))?\t(.*)$/s.exec(line) ?? []
      return [file, stage === '0' ? `${mode} ${id}` : line]
    }),
  )
}

/** The states that became steps: what is ignored is in none, and what changes nothing is none. */
export function stepsOf(base: Tree, states: readonly Tree[]): Tree[] {
  const steps = [base]
  for (const state of states) {
    const held = without(state, isIgnored)
    if (changes(steps.at(-1) ?? base, held).size > 0) steps.push(held)
  }
  return steps
}
