/** Decides whether a tool may run, from what is known of its call alone. Pure. */
import type { PathMatcher } from '../base/pathspec.ts'
import type { ShellCommand } from '../base/shell.ts'
import type { PolicyLevel } from '../model/enums.ts'
import { dangerOf } from './danger.ts'
import { type KnownCall, mostWords } from './known-call.ts'
import { lookedAt } from './looking.ts'
import {
  isInside,
  type PolicyPlace,
  realOf,
  shown,
  type Trouble,
  troubleOfRead,
  troubleOfWrite,
} from './places.ts'
import { allowsTool, allowsUse, denies, hasHarmlessRedirects } from './tool-match.ts'

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

const allow = (reason: string): Decision => ({ verdict: 'allow', reason })
const deny = (reason: string): Decision => ({ verdict: 'deny', reason })
const ask = (reason: string): Decision => ({ verdict: 'ask', reason })

/** A call that is wrong in any run is denied. Else `denied` wins; then a use that `allowed` names; then the level decides. */
export function decide(policy: Policy, call: KnownCall, place: PolicyPlace, matcher: PathMatcher): Decision {
  if (call.refusal !== undefined) return deny(call.refusal)
  const denied = policy.denied.map((pattern) => ({ pattern, is: denies(pattern, call, place, matcher) }))
  const sure = denied.find(({ is }) => is === 'yes')
  if (sure) return deny(`${sure.pattern} is denied`)
  // Nobody is asked under `strict`.
  const open = policy.level === 'strict' ? deny : ask
  const possible = denied.find(({ is }) => is === 'maybe')
  if (possible) return open(`${possible.pattern} is denied, and this may be such a use`)
  // `Bash(git push *)` allows that use in any case; plain `Bash` allows no dangerous use of the tool.
  const looks = (command: ShellCommand) => policy.level === 'moderate' && isLooking(command, call, place)
  const use = allowsUse(policy.allowed, call, place, matcher, looks)
  if (use !== undefined) return allow(`${use} is allowed`)
  return byLevel(
    policy,
    policy.allowed.find((pattern) => allowsTool(pattern, call)),
    call,
    place,
  )
}

function byLevel(
  { level }: Policy,
  allowed: string | undefined,
  call: KnownCall,
  place: PolicyPlace,
): Decision {
  const trouble = troubleOf(call, place, allowed !== undefined)
  switch (level) {
    case 'permissive':
      if (trouble === undefined) return allow('the policy is permissive')
      return trouble.open ? ask(trouble.reason) : deny(trouble.reason)
    case 'moderate': {
      const why = trouble?.reason ?? unreadOf(call)
      if (why !== undefined) return ask(why)
      if (allowed !== undefined && outsideOf(call, place) === undefined) return allow(`${allowed} is allowed`)
      const reason = reasonToAsk(call, place)
      return reason === undefined ? allow('it stays in the workspace') : ask(reason)
    }
    case 'strict': {
      if (allowed === undefined) return deny(`${call.name} is not among the allowed tools`)
      const why = trouble?.reason ?? unreadOf(call) ?? outsideOf(call, place)
      return why === undefined ? allow(`${allowed} is allowed`) : deny(why)
    }
  }
}

/** Why a call is not one that only looks or edits in the workspace. */
function reasonToAsk(call: KnownCall, place: PolicyPlace): string | undefined {
  const anything = `${call.name} may do anything`
  if (call.kind === 'shell')
    return call.runs && isLookingLine(call, call.runs.line, place) ? undefined : anything
  if (call.kind === 'edit') return undefined
  if (call.kind !== 'read') return anything
  return outsideOf(call, place)
}

/** Why a call that only reads is not one of the workspace: `Read` allows it no other place, `Read(/usr/**)` does. */
function outsideOf(call: KnownCall, place: PolicyPlace): string | undefined {
  if (call.kind !== 'read') return undefined
  const outside = call.paths.find((file) => !isInside(realOf(file, place, call.real), place))
  return outside === undefined ? undefined : `${shown(outside)} is outside of the workspace`
}

const unreadOf = ({ runs }: KnownCall) =>
  runs?.unread === undefined ? undefined : `the command cannot be read: ${runs.unread}`

function isLookingLine(
  call: KnownCall,
  line: NonNullable<KnownCall['runs']>['line'],
  place: PolicyPlace,
): boolean {
  return (
    line.plain &&
    line.commands.length > 0 &&
    line.commands.every((command) => isLooking(command, call, place))
  )
}

/** Whether it only reads, and nothing outside of the workspace. */
function isLooking(command: ShellCommand, { real }: KnownCall, place: PolicyPlace): boolean {
  if (!hasHarmlessRedirects(command) || command.words.length > mostWords / 4) return false
  const [program, folder] = command.words
  // Agents begin many lines with the way to where they are.
  if (program === 'cd')
    return command.words.length === 2 && realOf(folder ?? '', place, real) === place.workspace
  const files = lookedAt(command)
  return files?.every((file) => isInside(real.get(file) ?? '', place)) ?? false
}

function troubleOf(call: KnownCall, place: PolicyPlace, isAllowed: boolean): Trouble | undefined {
  const { kind, runs, paths, real } = call
  const danger = runs && dangerOf(runs, place, real)
  if (danger) return danger
  if (kind === 'edit' && paths.length === 0)
    return { reason: `${call.name} does not say which files it changes`, open: true }
  for (const file of paths) {
    const trouble =
      troubleOfRead(file, place, real) ??
      (kind === 'edit' ? troubleOfWrite(file, place, real) : undefined) ??
      (kind === 'other' && !isAllowed ? strange(call, file, place) : undefined)
    if (trouble) return trouble
  }
  return undefined
}

/** A tool that nobody knows may read or write the paths in its input. */
function strange({ name, real }: KnownCall, file: string, place: PolicyPlace): Trouble | undefined {
  const trouble = troubleOfWrite(file, place, real)
  return trouble && { reason: `${name} names ${shown(file)}: ${trouble.reason}`, open: true }
}
