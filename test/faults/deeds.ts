/** What a second writer does to the files of a plan, in the middle of a verb. */
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { blobId } from './folder-tree.ts'

/** What the second writer did, and therefore must find again. */
export interface Trace {
  /** The paths that it changed. What lies below one of them is changed, too. */
  readonly touched: readonly string[]
  /** Files that it wrote: as they were before it, the line it added, and the id of all that is in there then. */
  readonly wrote: readonly { readonly file: string; readonly line: string; readonly oid: string }[]
  /** What is at a path from then on. */
  readonly left?: { readonly file: string; readonly is: 'gone' | 'a link' | 'a folder' }
  /** What it staged, if git let it. */
  readonly staged?: { readonly file: string; readonly oid: string }
  /** What it committed, if git let it. */
  readonly commit?: string
}

export interface Deed {
  readonly name: string
  /** Does it below the folder. */
  act(root: string, env: Readonly<Record<string, string>>): Trace
}

const line = 'of the second writer\n'

/** Adds its line, and makes the file and its folders where they are missing; `how` an editor saves. */
function edit(root: string, file: string, how: 'in place' | 'by rename'): Trace['wrote'][number] {
  const full = path.join(root, file)
  mkdirSync(path.dirname(full), { recursive: true })
  const isFile = lstatSync(full, { throwIfNoEntry: false })?.isFile() ?? false
  if (how === 'in place') appendFileSync(full, line)
  else {
    writeFileSync(`${full}~`, isFile ? readFileSync(full) : '')
    appendFileSync(`${full}~`, line)
    renameSync(`${full}~`, full)
  }
  return { file, line, oid: blobId(readFileSync(full)) }
}

const edits = (file: string, how: 'in place' | 'by rename'): Deed => ({
  name: `edits ${file} ${how}`,
  act: (root) => ({ touched: [file], wrote: [edit(root, file, how)] }),
})

/** Undefined where another git holds a lock: then nothing was done. */
function git(root: string, env: Readonly<Record<string, string>>, ...args: string[]): string | undefined {
  try {
    const whole = ['-c', 'core.hooksPath=/dev/null', '-C', root, ...args]
    return execFileSync('git', whole, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}

const stages = (file: string): Deed => ({
  name: `stages ${file}`,
  act(root, env) {
    const wrote = edit(root, file, 'in place')
    const isStaged = git(root, env, 'add', '--', file) !== undefined
    return { touched: [file], wrote: [wrote], ...(isStaged && { staged: { file, oid: wrote.oid } }) }
  },
})

export const deeds: readonly Deed[] = [
  edits('a.txt', 'in place'),
  edits('src/b.txt', 'by rename'),
  edits('old/gone.txt', 'in place'),
  edits('new/deep/file.txt', 'by rename'),
  {
    name: 'renames src/b.txt',
    act(root) {
      const wrote = edit(root, 'src/b.txt', 'in place')
      renameSync(path.join(root, 'src/b.txt'), path.join(root, 'src/mine.txt'))
      return {
        touched: ['src/b.txt', 'src/mine.txt'],
        wrote: [{ ...wrote, file: 'src/mine.txt' }],
        left: { file: 'src/b.txt', is: 'gone' },
      }
    },
  },
  {
    name: 'puts a link in the place of src/b.txt',
    act(root) {
      const outside = path.join(path.dirname(root), 'outside.txt')
      writeFileSync(outside, 'outside\n')
      rmSync(path.join(root, 'src/b.txt'), { recursive: true, force: true })
      mkdirSync(path.join(root, 'src'), { recursive: true })
      symlinkSync(outside, path.join(root, 'src/b.txt'))
      return { touched: ['src/b.txt'], wrote: [], left: { file: 'src/b.txt', is: 'a link' } }
    },
  },
  {
    name: 'puts a folder in the place of src/b.txt',
    act(root) {
      rmSync(path.join(root, 'src/b.txt'), { recursive: true, force: true })
      const wrote = edit(root, 'src/b.txt/inner.txt', 'in place')
      return { touched: ['src/b.txt'], wrote: [wrote], left: { file: 'src/b.txt', is: 'a folder' } }
    },
  },
  {
    name: 'puts a link in the place of src',
    act(root) {
      const elsewhere = path.join(path.dirname(root), 'elsewhere')
      rmSync(elsewhere, { recursive: true, force: true })
      renameSync(path.join(root, 'src'), elsewhere)
      const { oid } = edit(elsewhere, 'b.txt', 'in place')
      symlinkSync(elsewhere, path.join(root, 'src'))
      return {
        touched: ['src'],
        wrote: [{ file: path.relative(root, path.join(elsewhere, 'b.txt')), line, oid }],
        left: { file: 'src', is: 'a link' },
      }
    },
  },
  stages('a.txt'),
  stages('src/b.txt'),
  {
    name: 'commits what is staged',
    act(root, env) {
      const made = git(root, env, 'commit', '--quiet', '--allow-empty', '--message=Of the second writer')
      const commit = made === undefined ? undefined : git(root, env, 'rev-parse', 'HEAD')
      return { touched: [], wrote: [], ...(commit !== undefined && { commit }) }
    },
  },
]
