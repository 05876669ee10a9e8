/** A person at a shell who reads the hints of the built command, types what they say, and sees whether it works. */
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'vitest'
import { until as untilWithin } from '../processes.ts'
import { cleanEnv, type Outcome, type TestRepo, testRepo } from '../repo.ts'
import { inFolder, withEnv } from '../workspace.ts'
import { commandsOf, namesCommand } from './commands.ts'
import type { Hint } from './collect.ts'
import { hintNamed } from './rows.ts'

/** Waits as long as a person would on a machine that has much else to do. */
export const until = (condition: () => boolean, what: string): Promise<void> =>
  untilWithin(condition, what, 120_000)

/** How the person follows a hint. Something of it must show that the hint works. */
interface Following {
  /** Where the line is typed; the checkout, unless told. */
  readonly in?: string
  /** Where the hint sends the person, if not to the same place. */
  readonly goes?: string
  /** Which of the commands fit the situation, where the hint names one for each. */
  readonly only?: RegExp
  /** Names that only the person knows, for the words in capitals that the hint has for them. */
  readonly fill?: Readonly<Record<string, string>>
  /** Does what the hint says, where it is no command. */
  readonly by?: (said: string) => unknown
  /** Is done after each command, for hints that name several ways: each is tried from the same state. */
  readonly after?: (command: string, outcome: Outcome) => unknown
  /** The commands do not end by themselves: Ctrl-C is typed once they have printed this. */
  readonly until?: RegExp
  /** What the commands print; of several, each something of it. */
  readonly shows?: RegExp
  /** The exit codes of commands that do not end with 0, by their beginning. */
  readonly ends?: Readonly<Record<string, number>>
  /** The line works now; a text is the line as the hint has it changed. */
  readonly worksNow?: true | string | ((said: string) => string)
}

export interface Person {
  readonly user: TestRepo
  /** Types a line, in the checkout unless told. */
  type(line: string, folder?: string): Promise<Outcome>
  /** The same for a line that must work. */
  do(line: string, folder?: string): Promise<Outcome>
  /** Types a line, and Ctrl-C as soon as the condition holds for what is to be read. */
  interrupt(line: string, isTime: (shown: string) => boolean, folder?: string): Promise<Outcome>
  /** Types the line, reads the hint of that name in its output, and follows it. Answers what the line printed. */
  hint(name: string, line: string, following: Following): Promise<Outcome>
  /** The same where the output is at hand. */
  follow(name: string, printed: string, following: Following & { readonly line?: string }): Promise<void>
  /** The same person with more in the environment. */
  with(env: Record<string, string>): Person
  /** The same person in another folder. */
  at(folder: string): Person
}

/** The hints of the sources, and those that were followed and worked. */
export interface Tally {
  readonly hints: readonly Hint[]
  readonly tried: Set<Hint>
  readonly working: Set<Hint>
}

const bin = path.resolve(import.meta.dirname, '../../../bin/offshoot.js')

/** A folder with `offshoot` in it, for the PATH. */
export function makeShim(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'offshoot-hints-'))
  const file = path.join(folder, 'bin', 'offshoot')
  mkdirSync(path.dirname(file))
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`)
  chmodSync(file, 0o755)
  return folder
}

/** A person with a repository of their own below the folder. */
export function personIn(
  folder: string,
  shim: string,
  tally: Tally,
  files?: Readonly<Record<string, string>>,
): Person {
  const home = mkdtempSync(path.join(folder, 'home-'))
  const user = testRepo(files && { ...files }, home)
  return personAt(withEnv(user, { PATH: `${shim}/bin${path.delimiter}${cleanEnv(home).PATH}` }), tally)
}

function personAt(user: TestRepo, tally: Tally): Person {
  const type = (line: string, folder = user.dir) => typed(user, line, folder)
  const interrupt: Person['interrupt'] = (line, isTime, folder = user.dir) =>
    typed(user, `exec ${line}`, folder, isTime)
  const must = async (line: string, folder = user.dir) => {
    const outcome = await type(line, folder)
    expect(outcome.code, `${line}\n${outcome.stdout}${outcome.stderr}`).toBe(0)
    return outcome
  }
  const follow: Person['follow'] = async (name, printed, { line = '', ...following }) => {
    const hint = hintNamed(tally.hints, name)
    const said = saidIn(printed, hint)
    tally.tried.add(hint)
    await obey({ said, line, type, interrupt, must }, following)
    tally.working.add(hint)
  }
  return {
    user,
    type,
    interrupt,
    do: must,
    follow,
    async hint(name, line, following) {
      const outcome = await type(line, following.in)
      await follow(name, outcome.stderr + outcome.stdout, { line, ...following })
      return outcome
    },
    with: (env) => personAt(withEnv(user, env), tally),
    at: (folder) => personAt(inFolder(user, folder), tally),
  }
}

function typed(
  user: TestRepo,
  line: string,
  cwd: string,
  isTime?: (shown: string) => boolean,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', line], { cwd, env: user.env, stdio: ['ignore', 'pipe', 'pipe'] })
    const said = { stdout: '', stderr: '' }
    child.stdout.on('data', (chunk) => (said.stdout += chunk))
    child.stderr.on('data', (chunk) => (said.stderr += chunk))
    child.on('error', reject)
    if (isTime)
      void until(() => isTime(said.stdout + said.stderr), `it is time to end: ${line}`).then(
        () => child.kill('SIGINT'),
        reject,
      )
    child.on('close', (code) => {
      const last = said.stdout.trimEnd().split('\n').at(-1) ?? ''
      resolve({ code, ...said, json: last.startsWith('{') ? JSON.parse(last) : undefined })
    })
  })
}

/** The hint as it was printed. */
function saidIn(printed: string, { file, text }: Hint): string {
  const escaped = text
    .trim()
    .split('{}')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const pattern = escaped.join('(?:.*?)').replace(/\(\?:\.\*\?\)$/, '.*?(?=  |$)')
  const said = new RegExp(pattern, 'm').exec(printed)?.[0]
  if (said === undefined) throw new Error(`Not printed: ${file}: ${text}\nbut:\n${printed}`)
  return said
}

interface Reading {
  readonly said: string
  readonly line: string
  readonly type: (line: string, folder?: string) => Promise<Outcome>
  readonly interrupt: Person['interrupt']
  readonly must: (line: string, folder?: string) => Promise<Outcome>
}

async function obey({ said, line, type, interrupt, must }: Reading, following: Following): Promise<void> {
  const {
    in: place,
    goes: folder = place,
    only = /^/,
    fill = {},
    by,
    after,
    until: isTime,
    shows = isTime,
    ends = {},
    worksNow,
  } = following
  if (!by && !shows && worksNow === undefined) throw new Error(`Nothing shows whether this works: ${said}`)
  const filled = Object.entries(fill).reduce((text, [name, value]) => text.replaceAll(name, value), said)
  const commands = commandsOf(filled)
  if (commands.length === 0 && namesCommand(said)) throw new Error(`No command was found in: ${said}`)
  const left = commands.find((command) => /(?<![\w=/])[A-Z]{3,}(?![\w:-])|…(?!")/.test(command))
  if (left !== undefined) throw new Error(`Who types this has to fill something in: ${left}`)
  for (const command of commands.filter((one) => only.test(one))) {
    const outcome = isTime
      ? await interrupt(command, (shown) => isTime.test(shown), folder)
      : await type(command, folder)
    const expected = Object.entries(ends).find(([beginning]) => command.startsWith(beginning))?.[1] ?? 0
    const told = `${command}\n${outcome.stdout}${outcome.stderr}`
    expect(outcome.code, told).toBe(expected)
    if (shows) expect(told.slice(command.length)).toMatch(shows)
    await after?.(command, outcome)
  }
  if (commands.length === 0 && shows) throw new Error(`There is no command that shows something in: ${said}`)
  await by?.(said)
  if (worksNow === undefined) return
  const next = typeof worksNow === 'function' ? worksNow(said) : worksNow
  await must(next === true ? line : next, folder)
}
