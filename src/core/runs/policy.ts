/** Whether a tool may run: decided before it does, from what is known of the call alone. */
import path from 'node:path'
import type { PathMatcher } from '../base/pathspec.ts'
import type { ToolCall, ToolKind } from '../model/agent.ts'
import type { PolicyLevel } from '../model/enums.ts'
import { dangerOf, isLooking } from './danger.ts'

export interface Policy {
  readonly level: PolicyLevel
  /** Tools, or uses of them: `Read`, `Bash(git push *)`. */
  readonly allowed: readonly string[]
  readonly denied: readonly string[]
}

export interface Decision {
  readonly verdict: 'allow' | 'deny' | 'ask'
  readonly reason: string
}

export interface PolicyPlace {
  readonly workspace: string
  /** Folders beside the workspace in which nobody minds a file. */
  readonly free: readonly string[]
  /** What `~` stands for. */
  readonly home: string
}

const allow = (reason: string): Decision => ({ verdict: 'allow', reason })
const deny = (reason: string): Decision => ({ verdict: 'deny', reason })
const ask = (reason: string): Decision => ({ verdict: 'ask', reason })

/** What is denied stays denied; what is allowed by name needs no other reason; the rest is up to the level. */
export function decide(policy: Policy, call: ToolCall, place: PolicyPlace, matcher: PathMatcher): Decision {
  const fits = (pattern: string) => isUse(pattern, call, place, matcher)
  const denied = policy.denied.find(fits)
  if (denied !== undefined) return deny(`${denied} is denied`)
  const allowed = policy.allowed.find(fits)
  // To allow a tool as a whole is not to allow it everywhere.
  if (allowed?.includes('(')) return allow(`${allowed} is allowed`)
  const trouble = troubleOf(call, place)
  switch (policy.level) {
    case 'permissive':
      return trouble === undefined ? allow('the policy is permissive') : deny(trouble)
    case 'moderate':
      if (trouble !== undefined) return ask(trouble)
      if (allowed !== undefined) return allow(`${allowed} is allowed`)
      return isHarmless(call) ? allow('it stays in the workspace') : ask(`${call.name} may do anything`)
    case 'strict':
      if (allowed === undefined) return deny(`${call.name} is not among the allowed tools`)
      return trouble === undefined ? allow(`${allowed} is allowed`) : deny(trouble)
  }
}

function isHarmless({ kind, command = '' }: ToolCall): boolean {
  return kind === 'read' || kind === 'edit' || (kind === 'shell' && isLooking(command))
}

function troubleOf(call: ToolCall, place: PolicyPlace): string | undefined {
  if (call.kind === 'shell') return dangerOf(call.command ?? '', place)
  if (call.kind !== 'edit') return undefined
  const outside = call.files?.find((file) => !isInside(file, place))
  return outside === undefined ? undefined : `${outside} is outside of the workspace`
}

function isInside(file: string, { workspace, free }: PolicyPlace): boolean {
  const full = path.resolve(workspace, file)
  const inGit = path.relative(workspace, full).split(path.sep)[0] === '.git'
  return !inGit && [workspace, ...free].some((folder) => full.startsWith(folder + path.sep))
}

/** What a tool is called in patterns, besides its own name: agents have different names for the same thing. */
const kindNames: Record<ToolKind, readonly string[]> = {
  read: ['read'],
  edit: ['edit'],
  shell: ['bash', 'shell'],
  fetch: ['webfetch', 'fetch'],
  other: [],
}

/** `Name` fits every use of a tool, `Name(words *)` those of a command, `Name(src/*.ts)` those of files that look like it. */
function isUse(pattern: string, call: ToolCall, place: PolicyPlace, matcher: PathMatcher): boolean {
  const [, name = '', use] = /^([^(]*)(?:\((.*)\))?$/s.exec(pattern.trim()) ?? []
  const names = [call.name.toLowerCase(), ...kindNames[call.kind]]
  if (name !== '*' && !names.includes(name.toLowerCase())) return false
  if (use === undefined) return true
  if (call.command !== undefined) return commandFits(use, call.command)
  if (!call.files?.length || use === '') return false
  const matches = matcher(use.includes('/') ? [use] : [use, `**/${use}`])
  return call.files.every((file) => filePaths(file, place).some(matches))
}

/** As seen from the workspace, and whole; both without `..`, so that `src/../../x` is not below `src`. */
function filePaths(file: string, { workspace }: PolicyPlace): string[] {
  const full = path.resolve(workspace, file)
  return [path.relative(workspace, full), full]
}

/** A pattern speaks of one command. One with more behind it (`a; b`, `$(b)`) is none that it knows. */
function commandFits(use: string, command: string): boolean {
  const known = wordPattern(use.replace(/:\*$/, ' *'))
  const plain = command.trim()
  return (known.test(plain) || known.test(`${plain} `)) && !/[;&|`\n<>]|\$\(/.test(plain)
}

/** A command line is no path: here `*` stands for anything, slashes and `..` included, as a denial must miss nothing. */
function wordPattern(words: string): RegExp {
  const escaped = words.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')
  return new RegExp(`^${escaped}$`, 's')
}
