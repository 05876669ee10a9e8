/** What a verb comes to, told without ids and times, so that two runs of it can be compared. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Fixture } from './journey-runner.ts'
import { difference, type Tree } from './folder-tree.ts'
import type { Snapshot } from './full-snapshot.ts'

export interface Summary {
  /** The checkout. */
  readonly files: Tree
  /** What is in `.git` beside index, logs and refs. */
  readonly git: Tree
  readonly index: readonly string[]
  readonly status: readonly string[]
  /** One that has moved by the trees and subjects of its commits, one that has not by its id. */
  readonly refs: Readonly<Record<string, string>>
  readonly ourRefs: Readonly<Record<string, string>>
  readonly logs: Readonly<Record<string, string>>
  readonly workspaces: Snapshot['workspaces']
  readonly registrations: readonly string[]
  readonly trash: Snapshot['trash']
  readonly tasks: readonly object[]
  /** The trees of the steps. */
  readonly steps: Readonly<Record<string, readonly string[]>>
  /** The verbs of the operations. */
  readonly operations: readonly string[]
}

const isLog = (name: string) => name.startsWith('.git/logs/')

export async function summarize(fixture: Fixture, before: Snapshot, now: Snapshot): Promise<Summary> {
  const inGit = Object.entries(now.user).filter(([name]) => name.startsWith('.git/'))
  return {
    files: Object.fromEntries(Object.entries(now.user).filter(([name]) => !name.startsWith('.git/'))),
    git: Object.fromEntries(inGit.filter(([name]) => name !== '.git/index' && !isLog(name))),
    index: (await fixture.git('ls-files', '--stage')).split('\n'),
    status: (await fixture.git('status', '--porcelain', '--untracked-files=all')).split('\n'),
    refs: await described(fixture, before.refs, now.refs),
    ourRefs: await described(fixture, before.ourRefs, now.ourRefs),
    logs: Object.fromEntries(
      inGit.filter(([name]) => isLog(name)).map(([name]) => [name, readLog(fixture, name)]),
    ),
    workspaces: now.workspaces,
    registrations: Object.keys(now.registrations),
    trash: withoutRegistrations(now.trash),
    tasks: [...now.open, ...now.closed].map(({ id, state, checkpoints, landed, closedAt }) => {
      // A step that could not be taken leaves an open task as failed, until the next run of an agent.
      return { id, state: closedAt === undefined ? 'open' : state, checkpoints, landed }
    }),
    steps: Object.fromEntries(
      Object.entries(now.steps).map(([uid, steps]) => [nameless(uid), steps.map((step) => step.tree)]),
    ),
    operations: now.operations.map(({ verb, undone }) => (undone ? `${verb}, undone` : verb)),
  }
}

async function described(
  fixture: Fixture,
  before: Snapshot['refs'],
  now: Snapshot['refs'],
): Promise<Record<string, string>> {
  const told: Record<string, string> = {}
  for (const [ref, id] of Object.entries(now)) {
    told[nameless(ref)] =
      before[ref] === id ? id : await fixture.git('log', '--topo-order', '--format=%T %s', id)
  }
  return told
}

/**
 * Who and why: not when, and not which ids. A git that is killed writes its line twice when it is asked again, or never
 * writes that of HEAD, which comes last.
 */
function readLog({ dir }: Fixture, name: string): string {
  const text = readFileSync(path.join(dir, name), 'utf8')
  const lines = nameless(text.replaceAll(/^\w+ \w+ (.*>) \d+ [+-]\d+/gm, '$1')).split('\n')
  const isCertain = (line: string) => name !== '.git/logs/HEAD' || !line.includes('\toffshoot: ')
  return lines.filter((line, n) => line !== lines[n - 1] && isCertain(line)).join('\n')
}

/** A task or an operation that is made anew has another id. */
function nameless(text: string): string {
  return text.replaceAll(/\b[0-9a-v]{20}\b/g, '<id>')
}

/** Git's own files in there hold times. */
function withoutRegistrations(trash: Snapshot['trash']): Snapshot['trash'] {
  return Object.fromEntries(
    Object.entries(trash).map(([name, tree]) => [
      name,
      Object.fromEntries(Object.entries(tree).filter(([file]) => !file.startsWith('registration/'))),
    ]),
  )
}

type Part = keyof Summary

/** One line per difference, in the given parts of the two. */
export function unlike(expected: Summary, found: Summary, parts = Object.keys(expected) as Part[]): string[] {
  return parts.flatMap((part) =>
    difference(
      Object.fromEntries(Object.entries(expected[part])),
      Object.fromEntries(Object.entries(found[part])),
    ).map((line) => `${part}: ${line}`),
  )
}
