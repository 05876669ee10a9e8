/** Generated repositories: realistic in shape, the same on each run, made by `git fast-import` because that is fast. */
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ended, run } from './spawn.ts'

const filesPerFolder = 20
const foldersPerArea = 25

export interface BenchRepo {
  /** The user's checkout. */
  readonly dir: string
  /** The state folder, on the same disk. */
  readonly home: string
  /** Without the developer's git config and state folder. */
  readonly env: NodeJS.ProcessEnv
}

/** A repository of `files` files of 1 to 4 KB on branch main, checked out, in a folder of its own. */
export async function makeRepo(folder: string, files: number): Promise<BenchRepo> {
  const dir = path.join(folder, 'repo')
  const home = path.join(folder, 'state')
  const env = {
    PATH: userPath(),
    HOME: folder,
    OFFSHOOT_HOME: home,
    OFFSHOOT_POOL_SIZE: '0',
    GIT_CONFIG_NOSYSTEM: '1',
  }
  mkdirSync(dir, { recursive: true })
  const at = { cwd: dir, env }
  await run('git', ['init', '--quiet', '--initial-branch=main'], at)
  const importer = spawn('git', ['fast-import', '--quiet'], { ...at, stdio: ['pipe', 'ignore', 'inherit'] })
  await Promise.all([
    pipeline(Readable.from(commitOf(files)), importer.stdin),
    ended(importer, 'git fast-import'),
  ])
  await run('git', ['reset', '--quiet', '--hard'], at)
  return { dir, home, env }
}

/** PATH without the folders that npm adds, which users do not have. */
function userPath(): string {
  const folders = (process.env.PATH ?? '').split(path.delimiter)
  return folders.filter((folder) => !folder.includes('node_modules')).join(path.delimiter)
}

function* commitOf(files: number): Generator<string> {
  yield 'commit refs/heads/main\ncommitter User <user@example.com> 1700000000 +0000\ndata 13\nFirst commit\n\n'
  const random = randomNumbers(files)
  const lines = Array.from({ length: 997 }, () => line(random))
  for (let n = 0; n < files; n++) {
    const text = content(n, lines, random)
    yield `M 100644 inline ${fileName(n)}\ndata ${text.length}\n${text}\n`
  }
}

export function fileName(n: number): string {
  const folder = Math.floor(n / filesPerFolder)
  const area = Math.floor(folder / foldersPerArea)
  return `packages/area-${area}/part-${folder % foldersPerArea}/file-${n % filesPerFolder}.ts`
}

function content(n: number, lines: readonly string[], random: () => number): string {
  const size = 1024 + Math.floor(random() * 3072)
  let text = `// ${n}\n`
  while (text.length < size) text += lines[Math.floor(random() * lines.length)]
  return text
}

function line(random: () => number): string {
  const words = Array.from({ length: 3 + Math.floor(random() * 7) }, () => {
    return Math.floor(random() * 36 ** 6).toString(36)
  })
  return `  ${words.join(' ')}\n`
}

/** The same numbers from 0 to 1 for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
