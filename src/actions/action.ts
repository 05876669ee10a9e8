/** The shape of one row in the table of actions. Nothing here loads a schema (docs/adr/0002-no-argument-parser-no-zod-on-the-way.md). */

import type { Scope } from '../core/model/enums.ts'

/** The headings of `--help`, in order. */
export const groups = {
  work: 'Work',
  look: 'Look',
  land: 'Land and undo',
  health: 'Keep healthy',
  setup: 'Set up',
} as const
export type Group = keyof typeof groups

/** Words that a shell completes: names of tasks, of branches, of agents, or a fixed list. */
export type Suggestions = 'tasks' | 'branches' | 'agents' | readonly string[]

/** One field of an action's input. */
export interface Option {
  readonly type: 'text' | 'number' | 'boolean'
  readonly help: string
  /** It holds a list; on the command line it may be repeated. */
  readonly many?: true
  readonly required?: true
  /** The name of its value in help: `BRANCH`. */
  readonly value?: string
  /** The only values that are allowed. */
  readonly values?: readonly string[]
  /** The word for one of `values` in an error: `strategy`. */
  readonly noun?: string
  readonly suggests?: Suggestions
  /** The name on the command line, where it is not the field's own in kebab case; null when it has no flag. */
  readonly flag?: string | null
  /** The flag may stand without a value. */
  readonly bare?: true
  /**
   * It names a task: by its id, by `-` or `@`, and where the action only looks or can be undone, by the beginning of an id.
   * `wholeTask` leaves out the last.
   */
  readonly names?: 'task' | 'wholeTask'
}

/** A field that the command line takes by its position. */
interface Argument {
  readonly option: string
  readonly required?: true
}

export interface Action {
  readonly summary: string
  readonly group: Group
  readonly scope: Scope
  /** The value of a field with which it changes the user's own checkout, as landing does: it then needs the scope `land`. */
  readonly inCheckout?: Readonly<Record<string, string>>
  /** By the name of the field. `repo`, the folder that -C names, is left out. */
  readonly options: Readonly<Record<string, Option>>
  readonly args?: readonly Argument[]
  /** It changes something, so a recovery comes first. */
  readonly writes?: true
  /** Recovery is a part of it, so none comes first. */
  readonly recovers?: true
  /** It needs the records only: a door can answer it without loading the other adapters. */
  readonly records?: true
  /** Tasks that are due for an automatic reject are rejected first. */
  readonly revertsFirst?: true
  /**
   * What an agent may do of it during its run: `all`, or only with its `own` task. Without it, the action is for the user
   * alone: an agent that tries it is told to ask.
   */
  readonly forAgent?: 'all' | 'own'
  /** The words of its command, where they are not the second half of its name. */
  readonly command?: string
  /** The field that turns it into a preview: it answers what it would do, and changes nothing. */
  readonly previews?: 'dryRun' | 'show'
  /** Its preview takes a step of uncommitted work first, so it writes. */
  readonly previewWrites?: true
  /** `undo` takes back what it does, but not with these values of its options. */
  readonly undoable?: true | { readonly except: Readonly<Record<string, readonly string[]>> }
  /** It makes files, steps or tasks, so its answer warns when the disk is nearly full. */
  readonly makes?: true
  /** It can end, replace or take away what somebody made, or run a program that can; a door that asks a person asks here. */
  readonly destructive?: true
  /** Asked for again with the same input, it changes nothing more. */
  readonly idempotent?: true
  /** It makes a task, always or when the named one is not there. */
  readonly makesTask?: 'always' | 'whenMissing'
}
