/** Decides whether a tool may run, from its call alone. Pure. */
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
  /** Folders outside of the workspace that an agent may write to, such as the temporary one. */
  readonly free: readonly string[]
  /** The folder that `~` stands for. */
  readonly home: string
}

const allow = (reason: string): Decision => ({ verdict: 'allow', reason })
const deny = (reason: string): Decision => ({ verdict: 'deny', reason })
const ask = (reason: string): Decision => ({ verdict: 'ask', reason })

/** `denied` wins; then a use that `allowed` names; then the level decides. */
export function decide(policy: Policy, call: ToolCall, place: PolicyPlace, matcher: PathMatcher): Decision {
  const denied = policy.denied.find((pattern) => isDenied(pattern, call, place, matcher))
  if (denied !== undefined) return deny(`${denied} is denied`)
  const allowed = policy.allowed.find((pattern) => isAllowed(pattern, call, place, matcher))
  // `Bash(git push *)` allows that use in any case; plain `Bash` allows no dangerous use of the tool.
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

/** Names for a kind of tool in patterns, besides the tool's own name: agents name the same tool differently. */
const kindNames: Record<ToolKind, readonly string[]> = {
  read: ['read'],
  edit: ['edit'],
  shell: ['bash', 'shell'],
  fetch: ['webfetch', 'fetch'],
  other: [],
}

/** An allowance must cover every file of the call. */
function isAllowed(pattern: string, call: ToolCall, place: PolicyPlace, matcher: PathMatcher): boolean {
  return isUse(pattern, call, (use) => {
    const matches = matcher(use.includes('/') ? [use] : [use, `**/${use}`])
    return (call.files ?? []).every((file) => filePaths(file, place).some(matches))
  })
}

/** A denial must miss nothing: one file of the call is enough, and `*` crosses folders too. */
function isDenied(pattern: string, call: ToolCall, place: PolicyPlace, matcher: PathMatcher): boolean {
  return isUse(pattern, call, (use) => {
    const [matches, crosses] = [matcher(use.includes('/') ? [use] : [use, `**/${use}`]), wordPattern(use)]
    const fits = (file: string) => matches(file) || crosses.test(file)
    return (call.files ?? []).some((file) => filePaths(file, place).some(fits))
  })
}

/** `Name` matches every use of a tool, `Name(words *)` a command, `Name(src/*.ts)` the files of that pattern. */
function isUse(pattern: string, call: ToolCall, coversFiles: (use: string) => boolean): boolean {
  const [, name = '', use] = /^([^(]*)(?:\((.*)\))?$/s.exec(pattern.trim()) ?? []
  const names = [call.name.toLowerCase(), ...kindNames[call.kind]]
  if (name !== '*' && !names.includes(name.toLowerCase())) return false
  if (use === undefined) return true
  if (call.command !== undefined) return commandFits(use, call.command)
  return Boolean(call.files?.length) && use !== '' && coversFiles(use)
}

/** The path relative to the workspace, and absolute; both without `..`, so that `src/../../x` is not below `src`. */
function filePaths(file: string, { workspace }: PolicyPlace): string[] {
  const full = path.resolve(workspace, file)
  return [path.relative(workspace, full), full]
}

/** A pattern matches one command only, never a line with several (`a; b`, `$(b)`). */
function commandFits(use: string, command: string): boolean {
  const known = wordPattern(use.replace(/:\*$/, ' *'))
  const plain = command.trim()
  return (known.test(plain) || known.test(`${plain} `)) && !/[;&|`\n<>]|\$\(/.test(plain)
}

/** In a command line, and in the files of a denial, `*` matches anything, slashes included. */
function wordPattern(words: string): RegExp {
  const escaped = words.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')
  return new RegExp(`^${escaped}$`, 's')
}
