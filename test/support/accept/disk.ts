/** Trees on the disk. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { changes, type Entry, type Tree } from './tree.ts'

/** Makes the folder, which holds `from`, hold `to`. */
export function writeTree(folder: string, from: Tree, to: Tree): void {
  const plan = [...changes(from, to)]
  for (const [file] of plan) if (from.has(file)) removeFile(folder, file)
  for (const [file, entry] of plan) if (entry) writeEntry(path.join(folder, file), entry)
}

function removeFile(folder: string, file: string): void {
  rmSync(path.join(folder, file))
  for (let parent = path.dirname(file); parent !== '.'; parent = path.dirname(parent)) {
    if (readdirSync(path.join(folder, parent)).length > 0) return
    rmdirSync(path.join(folder, parent))
  }
}

function writeEntry(full: string, { mode, text }: Entry): void {
  mkdirSync(path.dirname(full), { recursive: true })
  if (mode === '120000') return symlinkSync(text, full)
  writeFileSync(full, text)
  chmodSync(full, mode === '100755' ? 0o755 : 0o644)
}

/** What the folder holds, but for git's own. */
export function readTree(folder: string): Tree {
  const found = new Map<string, Entry>()
  const walk = (below: string) => {
    for (const name of readdirSync(path.join(folder, below))) {
      const file = path.join(below, name)
      if (file === '.git') continue
      const full = path.join(folder, file)
      const stat = lstatSync(full)
      if (stat.isDirectory()) walk(file)
      else if (stat.isSymbolicLink()) found.set(file, { mode: '120000', text: readlinkSync(full) })
      else
        found.set(file, { mode: stat.mode & 0o100 ? '100755' : '100644', text: readFileSync(full, 'utf8') })
    }
  }
  walk('')
  return found
}
