/**
 * `npm run test:mutants`: plants one bug at a time in a copy of the sources, and runs the tests that ought to find it. A bug that
 * survives fails the run, and so does one that the sources no longer have a place for. `--only TEXT`, once or
 * more, takes those whose name, file or tests have the text, `--list` names them all.
 */
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { readMutants } from './all.ts'
import type { Mutant } from './mutant.ts'
import { misplaced } from './place.ts'

const root = path.resolve(import.meta.dirname, '../..')
const atOnce = 2
/** No suite takes that long: a bug may let it wait for ever. */
const longestMs = 10 * 60_000

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, list: { type: 'boolean' } },
})
const { only } = values
const wanted = (await readMutants()).filter(
  ({ name, file, suites }) =>
    only === undefined || only.some((text) => [name, file, ...suites].some((one) => one.includes(text))),
)

interface Verdict {
  readonly mutant: Mutant
  /** The suite that failed; undefined when all passed. */
  readonly foundBy: string | undefined
  /** Words of `breaks` that no failed test has in its name. */
  readonly unbroken: readonly string[]
  readonly seconds: number
}

/** A copy of the work tree, whose packages are those of the original. */
function copyTree(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'offshoot-mutants-'))
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  for (const file of listed.split('\0').filter(Boolean)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    cpSync(path.join(root, file), path.join(folder, file), { verbatimSymlinks: true })
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  return folder
}

/** Runs a program of a package in the tree; answers whether it went well. */
function play(tree: string, program: string, ...args: string[]): Promise<boolean> {
  const file = path.join(root, 'node_modules', program)
  const child = spawn(process.execPath, [file, ...args], { cwd: tree, stdio: 'ignore', detached: true })
  const patience = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), longestMs)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      clearTimeout(patience)
      resolve(code === 0)
    })
  })
}

const passes = (tree: string, suites: readonly string[]) =>
  play(tree, 'vitest/vitest.mjs', 'run', '--bail=1', '--reporter=dot', ...suites)

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[]
  }[]
}

/** The words that are in the name of no failed test. */
async function readUnbroken(
  tree: string,
  suites: readonly string[],
  words: readonly string[],
): Promise<string[]> {
  const file = path.join(tree, 'report.json')
  rmSync(file, { force: true })
  const named = words.map((word) => word.replaceAll(/[^\w ]/g, '\\$&')).join('|')
  await play(
    tree,
    'vitest/vitest.mjs',
    'run',
    '--reporter=json',
    `--outputFile=${file}`,
    '--testNamePattern',
    named,
    ...suites,
  )
  const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as Report
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'failed')
  return words.filter((word) => !failed.some(({ fullName }) => fullName.includes(word)))
}
const build = (tree: string) => play(tree, 'rolldown/bin/cli.mjs', '--config', 'rolldown.config.ts')

/** Journeys and the like run the built command. */
const needsBuild = (suites: readonly string[]) =>
  suites.some((suite) => /^test\/(journeys|recovery|runs|doors|seeds|attacks)/.test(suite))

async function plant(tree: string, mutant: Mutant): Promise<Verdict> {
  const begun = performance.now()
  const file = path.join(tree, mutant.file)
  const text = readFileSync(file, 'utf8')
  const ended = (foundBy: string | undefined, unbroken: readonly string[] = []) => ({
    mutant,
    foundBy,
    unbroken,
    seconds: (performance.now() - begun) / 1000,
  })
  writeFileSync(
    file,
    text.replace(mutant.find, () => mutant.replace),
  )
  try {
    if (needsBuild(mutant.suites) && !(await build(tree))) return ended('the build')
    if (mutant.breaks) {
      const unbroken = await readUnbroken(tree, mutant.suites, mutant.breaks)
      return ended(unbroken.length === 0 ? mutant.breaks.join(', ') : undefined, unbroken)
    }
    for (const suite of mutant.suites) if (!(await passes(tree, [suite]))) return ended(suite)
    return ended(undefined)
  } finally {
    writeFileSync(file, text)
  }
}

async function plantAll(mutants: readonly Mutant[]): Promise<Verdict[]> {
  const trees = Array.from({ length: atOnce }, copyTree)
  try {
    const [first = ''] = trees
    const suites = [...new Set(mutants.flatMap((mutant) => mutant.suites))]
    await Promise.all(trees.map(build))
    // What fails without a bug finds none.
    if (!(await passes(first, suites))) throw new Error('The suites fail without any bug.')
    const waiting = [...mutants]
    const verdicts: Verdict[] = []
    const work = async (tree: string) => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const verdict = await plant(tree, next)
        verdicts.push(verdict)
        console.log(line(verdict))
      }
    }
    await Promise.all(trees.map(work))
    return verdicts
  } finally {
    for (const tree of trees) rmSync(tree, { recursive: true, force: true })
  }
}

const width = Math.max(...wanted.map(({ name }) => name.length))

function line({ mutant, foundBy, unbroken, seconds }: Verdict): string {
  const took = `${seconds.toFixed(0)} s`.padStart(6)
  const survived = ['SURVIVED', ...(unbroken.length > 0 ? [unbroken.join(', ')] : [])].join(': ')
  return `${mutant.name.padEnd(width)} ${took}  ${foundBy ?? survived}`
}

const lost = wanted.flatMap((mutant) => misplaced(root, mutant) ?? [])
if (values.list)
  for (const { name, file, suites } of wanted) console.log(`${name}  ${file}  ${suites.join(' ')}`)
for (const why of lost) console.error(why)
if (lost.length > 0) process.exitCode = 1
else if (!values.list) {
  const verdicts = await plantAll(wanted)
  const found = verdicts.filter(({ foundBy }) => foundBy !== undefined).length
  console.log(`${wanted.length} planted, ${found} found`)
  if (found < wanted.length) process.exitCode = 1
}
