/**
 * The ports of landings that are tried out together: merges wait for each other, each file of a checkout is read once, and git is
 * asked once about index and merge rules (docs/adr/0059-a-forecast-lands-in-a-scratch-folder.md).
 */
import path from 'node:path'
import { type BytePath, toText } from '../model/bytes.ts'
import type { Repo } from '../model/repo.ts'
import type { Task } from '../model/task.ts'
import type { Found, Leaf, LeafChange, Tracked } from '../model/tree.ts'
import type { Checkouts } from '../ports/checkouts.ts'
import type { Contents } from '../ports/contents.ts'
import type { Ports } from '../ports/index.ts'
import type { Trial } from '../ports/trials.ts'
import { attributeFiles } from '../model/attribute-files.ts'
import type { Work } from '../tasks/work.ts'
import type { MergeMemory } from './merge-memory.ts'
import { mergeRounds } from './merge-rounds.ts'

export interface TrialPorts extends Ports {
  readonly signal: AbortSignal | undefined
  /** Runs landings at once. None may wait for another one. */
  runAll<T>(landings: readonly (() => Promise<T>)[]): Promise<T[]>
  /** Makes the next question about index or merge rules ask for these files as well. */
  expect(files: Iterable<BytePath>): void
  /**
   * A folder of the trial with these attribute files, which no checkout has, for git to read them. Where one is undefined, git
   * reads that of the index; where it is null, there is none in the index either.
   */
  layOut(attributes: ReadonlyMap<BytePath, Leaf | null | undefined>): Promise<string>
  /** An attribute file as the index of the checkout has it; left out for the real checkout, whose index git reads itself. */
  findIndexed?(file: BytePath): Promise<Leaf | null>
  /** The merge rules of these files by attribute files that no checkout has. */
  readRulesBy(
    gitDir: string,
    files: readonly BytePath[],
    attributes: ReadonlyMap<BytePath, Leaf | null | undefined>,
  ): ReturnType<Checkouts['readMergeRules']>
}

/** Runs the work with ports of which nothing remains but what `memory` keeps. The vault must have the steps of the task. */
export function tryLandings<T>(
  { ports, repo, task, signal }: Work,
  memory: MergeMemory,
  work: (trial: TrialPorts) => Promise<T>,
): Promise<T> {
  return ports.trials.tryOut(repo, task, (trial) => {
    const merging = mergeRounds(trial, repo, memory, signal)
    const expected = new Set<BytePath>()
    const contents = { ...merging.contents, ...readOnce(merging.contents) }
    const layOut: TrialPorts['layOut'] = (attributes) => layOutIn(trial, ports, contents, repo, attributes)
    return work({
      ...ports,
      contents,
      publishing: {
        ...ports.publishing,
        ...merging.publishing,
        clean: cleanPlain(ports, { ...trial, publishing: merging.publishing }),
      },
      steps: { ...ports.steps, ...trial.steps },
      checkouts: { ...ports.checkouts, ...askOnce(ports.checkouts, trial, expected) },
      signal,
      runAll: merging.runAll,
      expect: (files) => {
        for (const file of files) expected.add(file)
      },
      layOut,
      async readRulesBy(gitDir, files, attributes) {
        const folder = await layOut(attributes)
        return trial.alone(() => ports.checkouts.readMergeRules(folder, gitDir, files))
      },
    })
  })
}

/** Reads each file of a checkout once, and all of its files once; compares two trees once. */
function readOnce(contents: Contents): Pick<Contents, 'capture' | 'captureAll' | 'compare'> {
  const known = new Map<string, Found>()
  const all = new Map<string, Promise<string>>()
  const compared = new Map<string, Map<BytePath, LeafChange>>()
  return {
    async compare(repo, from, to) {
      const key = `${from} ${to}`
      const changes = compared.get(key) ?? (await contents.compare(repo, from, to))
      compared.set(key, changes)
      return changes
    },
    async capture(repo, folder, paths, leaves, follow) {
      if (typeof folder !== 'string') return contents.capture(repo, folder, paths, leaves, follow)
      const wanted = [...paths]
      const unread = wanted.filter((file) => !known.has(`${folder}/${file}`))
      const read = await contents.capture(repo, folder, unread, leaves, follow)
      for (const [file, found] of read) known.set(`${folder}/${file}`, found)
      return new Map(wanted.map((file) => [file, known.get(`${folder}/${file}`) ?? { kind: 'gone' }]))
    },
    captureAll(repo, checkout, follow) {
      const reading = all.get(checkout) ?? contents.captureAll(repo, checkout, follow)
      all.set(checkout, reading)
      return reading
    },
  }
}

/** Asks git once for all files that any landing may ask for. */
function askOnce(
  checkouts: Checkouts,
  { alone }: Pick<Trial, 'alone'>,
  expected: ReadonlySet<BytePath>,
): Pick<Checkouts, 'readTracked' | 'readMergeRules'> {
  const index = new Map<string, Asked<Map<BytePath, Tracked>>>()
  const rules = new Map<string, Asked<Map<BytePath, 'union' | 'binary'>>>()
  return {
    async readTracked(gitDir, files) {
      const ask = (all: BytePath[]) => alone(() => checkouts.readTracked(gitDir, all))
      const found = await askFor(index, gitDir, files, expected, ask)
      const wanted = new Set(files)
      return new Map([...found].filter(([file]) => isAtOrBelow(file, wanted)))
    },
    async readMergeRules(checkout, gitDir, files) {
      const ask = (all: BytePath[]) => alone(() => checkouts.readMergeRules(checkout, gitDir, all))
      const found = await askFor(rules, checkout, files, expected, ask)
      const wanted = new Set(files)
      return new Map([...found].filter(([file]) => wanted.has(file)))
    },
  }
}

interface Asked<T> {
  readonly files: ReadonlySet<BytePath>
  readonly answer: Promise<T>
}

/** The answer for all expected files; asks anew only for a file that nobody expected. */
function askFor<T>(
  known: Map<string, Asked<T>>,
  key: string,
  files: readonly BytePath[],
  expected: ReadonlySet<BytePath>,
  ask: (files: BytePath[]) => Promise<T>,
): Promise<T> {
  const before = known.get(key)
  if (before && files.every((file) => before.files.has(file))) return before.answer
  const all = new Set([...expected, ...files])
  const answer = ask([...all])
  known.set(key, { files: all, answer })
  return answer
}

function isAtOrBelow(file: BytePath, wanted: ReadonlySet<BytePath>): boolean {
  for (let end = file.length; end > 0; end = file.lastIndexOf('/', end - 1))
    if (wanted.has(file.slice(0, end))) return true
  return false
}

/** Asks git about conversions only for a task that may have some: a plain workspace without attribute files has none. */
function cleanPlain(
  { seeding }: Pick<Ports, 'seeding'>,
  { contents, steps, publishing: { clean } }: Pick<Trial, 'contents' | 'steps' | 'publishing'>,
): Trial['publishing']['clean'] {
  const plain = new Map<string, Promise<boolean>>()
  const hasAttributes = async (repo: Repo, task: Task, files: Iterable<BytePath>) => {
    const tip = await steps.findTip(repo, task)
    for (const file of attributeFiles(files))
      if (!tip || (await contents.findLeaf(repo, tip.tree, file))) return true
    return false
  }
  return async (repo, task, changes, signal) => {
    const looking = plain.get(task.uid) ?? seeding.isPlain(repo, task)
    plain.set(task.uid, looking)
    if ((await looking) && !(await hasAttributes(repo, task, changes.keys())))
      return new Map(Array.from(changes, ([file, { to }]) => [file, to]))
    return clean(repo, task, changes, signal)
  }
}

let counter = 0

async function layOutIn(
  { folder: parent }: Pick<Trial, 'folder'>,
  { files }: Pick<Ports, 'files'>,
  contents: Contents,
  repo: Repo,
  attributes: ReadonlyMap<BytePath, Leaf | null | undefined>,
): Promise<string> {
  const folder = path.join(parent, `attributes-${counter++}`)
  await files.makeFolder(folder, 0o700)
  for (const [file, leaf] of attributes) {
    const target = path.join(folder, toText(file))
    // Below a folder that has the name of an attribute file, git finds no rules by that name either.
    if (file.includes('.gitattributes/') || (leaf !== null && !leaf?.mode.startsWith('100'))) continue
    await files.makeFolder(path.dirname(target), 0o700)
    if (leaf) await contents.exportFile(repo, leaf, target)
    else await files.write(target, '')
  }
  return folder
}
