/** The files of a repository that its commands run and that agents take orders from, with the hash of what they hold. */
import path from 'node:path'
import { AppError } from '../model/errors.ts'
import type { Ports } from '../ports/index.ts'

/** A file by its path from the root of the checkout. */
export interface HashedFile {
  readonly path: string
  readonly sha256: string
}

type Files = Pick<Ports, 'files'>

/** The words of a command that may name a file: each as it stands, and what follows each slash. Pure. */
export function wordsOf(command: string): string[] {
  const quoted = [...command.matchAll(/"([^"]*)"|'([^']*)'/g)].map(([, one, two]) => one ?? two ?? '')
  const plain = command.split(/[\s;&|<>(){}"'`=]+/)
  // `$ROOT_WORKTREE_PATH/setup.sh` names setup.sh.
  const ends = (word: string) => word.split('/').map((_, n, parts) => parts.slice(n).join('/'))
  const words = [...quoted, ...plain].flatMap(ends).map((word) => path.posix.normalize(word))
  return [...new Set(words)].filter((word) => !/^(?:\.{0,2}|\.\.\/.*|\/.*)$/.test(word))
}

/** The files in `root` that the command names. What such a file reads or starts in turn is not known. */
export async function readNamedFiles(ports: Files, root: string, command: string): Promise<HashedFile[]> {
  const words = wordsOf(command)
  const kinds = new Map(
    await Promise.all(words.map(async (word) => [word, await kindOf(ports, root, word)] as const)),
  )
  const folders = words.filter((word) => kinds.get(word) === 'folder')
  // `cd app && ./setup.sh`
  const below = folders.flatMap((folder) => words.map((word) => `${folder}/${word}`))
  return hashed(ports, root, [...words, ...below])
}

/** More would be a folder that is no settings of an agent. */
const mostFiles = 5000

/** Worktrees that Claude Code makes in a checkout. */
const notRead = '.claude/worktrees'

/** Every file at or below these paths, through links as an agent would read them. */
export async function readFilesAt(
  ports: Files,
  root: string,
  paths: readonly string[],
): Promise<HashedFile[]> {
  const found: string[] = []
  const seen = new Set<string>()
  const walk = async (name: string): Promise<void> => {
    const real = await ports.files.readRealPath(path.join(root, name))
    const kind = await ports.files.readKind(real)
    if (kind === 'file') found.push(name)
    if (found.length > mostFiles) throw tooMany(root, name)
    if (kind !== 'folder' || seen.has(real) || name === notRead) return
    seen.add(real)
    for (const below of (await ports.files.readNames(real)).toSorted()) await walk(`${name}/${below}`)
  }
  for (const name of paths) await walk(name)
  return hashed(ports, root, found)
}

function tooMany(root: string, name: string): AppError {
  const [folder = name] = name.split('/')
  return new AppError(
    'policyRefused',
    `${folder} has more than ${mostFiles} files: nobody can trust all of them.`,
    {
      path: path.join(root, folder),
      hint: 'Move what is no settings of an agent out of that folder.',
    },
  )
}

async function kindOf(ports: Files, root: string, name: string) {
  return ports.files.readKind(await ports.files.readRealPath(path.join(root, name)))
}

async function hashed(ports: Files, root: string, names: readonly string[]): Promise<HashedFile[]> {
  const files: HashedFile[] = []
  for (const name of new Set(names)) {
    const sha256 = await ports.files.readHash(await ports.files.readRealPath(path.join(root, name)))
    if (sha256 !== undefined) files.push({ path: name, sha256 })
  }
  return files
}

/** The modules of the setting `agent.adapters`, by the path that it has there. */
export async function readModules(
  ports: Pick<Ports, 'files' | 'userHome'>,
  checkout: string | null,
  modules: readonly string[],
): Promise<HashedFile[]> {
  const files: HashedFile[] = []
  for (const file of modules) {
    const real = await ports.files.readRealPath(adapterFile(ports, checkout, file))
    files.push({ path: file, sha256: (await ports.files.readHash(real)) ?? '' })
  }
  return files
}

/** The path of a module in the settings: relative to the root of the checkout; `~` is the user's home. */
export function adapterFile(
  { userHome }: Pick<Ports, 'userHome'>,
  checkout: string | null,
  file: string,
): string {
  const expanded = file.startsWith('~/') ? path.join(userHome, file.slice(2)) : file
  return path.resolve(checkout ?? userHome, expanded)
}
