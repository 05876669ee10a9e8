/** Folders and steps as comparable values. Names are bytes, one character each. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Each path with its mode and what it holds. */
export type Shots = ReadonlyMap<string, string>

export interface FolderShot {
  readonly files: Shots
  /** Neither file nor link, not readable, or a repository's own. */
  readonly odd: ReadonlySet<string>
}

export const text = (path: string) => Buffer.from(path, 'latin1').toString()
const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** The names that some system takes for `.git`: no commit may hold them. */
const reserved = /^(\.git|git~1)[ .]*(:.*)?$/i
const isReserved = (name: string) => reserved.test(text(name).replaceAll('\u200c', ''))

export function readFolder(folder: string): FolderShot {
  const files = new Map<string, string>()
  const odd = new Set<string>()
  const walk = (below: string) => {
    for (const entry of namesIn(folder, below)) {
      const name = below === '' ? entry : `${below}/${entry}`
      if (name === '.git') continue
      if (isReserved(entry)) odd.add(name)
      else take(name)
    }
  }
  const take = (name: string) => {
    const full = fullPath(folder, name)
    const found = lstatSync(full)
    try {
      if (found.isDirectory()) walk(name)
      else if (found.isSymbolicLink()) {
        files.set(name, `120000 ${hash(readlinkSync(full, { encoding: 'buffer' }))}`)
      } else if (found.isFile()) {
        files.set(name, `${found.mode & 0o100 ? '100755' : '100644'} ${hash(readFileSync(full))}`)
      } else odd.add(name)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
      odd.add(name)
    }
  }
  walk('')
  return { files, odd }
}

function fullPath(folder: string, name: string): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, 'latin1')])
}

function namesIn(folder: string, below: string): string[] {
  return readdirSync(fullPath(folder, below), { encoding: 'buffer' }).map((name) => name.toString('latin1'))
}

/** Plain git on the vault, with nobody else's objects. */
export function vaultGit(vault: string, args: readonly string[], input?: string): Buffer {
  const { status, stdout, stderr } = spawnSync('git', ['--git-dir', vault, ...args], {
    input,
    maxBuffer: 1 << 30,
  })
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.toString()}`)
  return stdout
}

/** What a step holds, read by git alone. */
export function readStep(vault: string, commit: string): Shots {
  const lines = vaultGit(vault, ['ls-tree', '-r', '-z', commit])
    .toString('latin1')
    .split('\0')
    .filter(Boolean)
  const entries = lines.map((line) => {
    const [mode = '', , oid = ''] = line.slice(0, line.indexOf('\t')).split(' ')
    return { mode, oid, name: line.slice(line.indexOf('\t') + 1) }
  })
  const contents = readBlobs(vault, [...new Set(entries.map(({ oid }) => oid))])
  return new Map(entries.map(({ mode, oid, name }) => [name, `${mode} ${contents.get(oid) ?? 'missing'}`]))
}

function readBlobs(vault: string, oids: readonly string[]): Map<string, string> {
  const output = vaultGit(vault, ['cat-file', '--batch'], oids.map((oid) => `${oid}\n`).join(''))
  const found = new Map<string, string>()
  for (let at = 0; at < output.length; ) {
    const line = output.indexOf(0x0a, at)
    const [oid = '', type, size] = output.toString('latin1', at, line).split(' ')
    if (type === 'missing') {
      at = line + 1
      continue
    }
    const end = line + 1 + Number(size)
    found.set(oid, hash(output.subarray(line + 1, end)))
    at = end + 1
  }
  return found
}

/** One line for each path that is not the same in both. */
export function differences(expected: Shots, actual: Shots): string[] {
  return [...new Set([...expected.keys(), ...actual.keys()])].flatMap((name) => {
    const [a, b] = [expected.get(name), actual.get(name)]
    if (a === b) return []
    return [`${text(name)} ${a === undefined ? 'is too much' : b === undefined ? 'is missing' : 'differs'}`]
  })
}
