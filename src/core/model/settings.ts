import type { PolicyLevel } from './enums.ts'

/** Which tasks: those on a shadow branch stand in the user's way, the others do not. */
type AutoRevertOf = 'never' | 'shadow' | 'always'

/** Every setting with its default. The schema that checks what users write is in src/settings. */
export interface Settings {
  /** Off: `start` refuses (`OFFSHOOT_DISABLED=1` sets this). */
  readonly enabled: boolean
  readonly workspace: {
    /** Folder that holds the workspaces; relative to the repository's root, `~` expands; empty: the state folder. */
    readonly base: string
    readonly name: string
    /** Ignored files that a workspace gets, beside those that `.worktreeinclude` names: a copy, or a link to yours. */
    readonly copy: readonly string[]
    readonly link: readonly string[]
  }
  readonly branch: { readonly name: string }
  /** What `run` does where there is no repository. */
  readonly isolation: { readonly fallback: 'none' | 'direct' }
  /** How many workspaces are made ahead, so that a start has nothing to wait for. */
  readonly pool: { readonly size: number }
  /** Where the ports of tasks begin, and how many each has; 0: none. */
  readonly ports: { readonly base: number; readonly size: number }
  readonly limits: {
    readonly perRepo: number
    /** Runs at once in one repository; the others queue. */
    readonly concurrent: number
    /** How long a run may take; 0: as long as it wants. */
    readonly timeMinutes: number
    /** How many answers of its model an agent may take; 0: as many as it wants. */
    readonly turns: number
  }
  /** Which agent `run` takes; empty: the first that is installed. */
  readonly agent: {
    readonly name: string
    /** Modules with agents of the user's own. */
    readonly adapters: readonly string[]
  }
  readonly policy: {
    readonly level: PolicyLevel
    readonly allowed: readonly string[]
    readonly denied: readonly string[]
  }
  readonly checkpoints: {
    /** When steps become commits on the task's branch. */
    readonly publish: 'runEnd' | 'always' | 'never'
  }
  readonly accept: {
    /** What a squash says when the user says nothing. */
    readonly squashMessage: string
    readonly mergeMessage: string
  }
  readonly pr: {
    /** The remote that the branch of a pull request is pushed to: its name or its address. */
    readonly remote: string
    readonly tool: 'auto' | 'gh' | 'glab'
  }
  /** Commands, run by the shell; empty: none. */
  readonly hooks: {
    readonly postStart: string
    readonly preRun: string
    readonly preAccept: string
    readonly postAccept: string
    readonly preRemove: string
    readonly timeoutSeconds: number
  }
  readonly lock: { readonly waitSeconds: number }
  /** 0: never. */
  readonly recover: { readonly everyMinutes: number }
  readonly prune: {
    readonly maxAgeDays: number
    readonly minKeep: number
    /** A task whose run has ended well goes at once; its branch stays. */
    readonly cleanupOnComplete: boolean
    /** What no commit and no step holds keeps a task from being pruned. */
    readonly protectUncommitted: boolean
    readonly warnUncommitted: boolean
  }
  readonly trash: {
    /** For so long everything can be undone. */
    readonly keepDays: number
    /** What trash and vault of one repository may take together. */
    readonly maxMegabytes: number
  }
  readonly disk: { readonly warnPercent: number }
  /** When a task is given up without anybody asking for it. */
  readonly autoRevert: {
    readonly failure: AutoRevertOf
    readonly shutdown: AutoRevertOf
    readonly idle: AutoRevertOf
    readonly idleMinutes: number
    /** Off: a second task in a checkout is refused. */
    readonly newTask: boolean
  }
  /** The branch of a task that is given up because it has failed stays. */
  readonly keepFailed: boolean
}

export const defaultSettings: Settings = {
  enabled: true,
  workspace: { base: '', name: '{task}-{date}-{time}', copy: [], link: [] },
  branch: { name: 'offshoot/{task}' },
  isolation: { fallback: 'none' },
  pool: { size: 1 },
  ports: { base: 20_000, size: 10 },
  limits: { perRepo: 10, concurrent: 10, timeMinutes: 0, turns: 0 },
  agent: { name: '', adapters: [] },
  policy: { level: 'permissive', allowed: [], denied: [] },
  checkpoints: { publish: 'runEnd' },
  accept: { squashMessage: '{title}', mergeMessage: 'Merge the work of {task}' },
  pr: { remote: 'origin', tool: 'auto' },
  hooks: { postStart: '', preRun: '', preAccept: '', postAccept: '', preRemove: '', timeoutSeconds: 600 },
  lock: { waitSeconds: 30 },
  recover: { everyMinutes: 5 },
  prune: {
    maxAgeDays: 7,
    minKeep: 2,
    cleanupOnComplete: false,
    protectUncommitted: true,
    warnUncommitted: true,
  },
  trash: { keepDays: 30, maxMegabytes: 10_000 },
  disk: { warnPercent: 90 },
  autoRevert: { failure: 'shadow', shutdown: 'shadow', idle: 'shadow', idleMinutes: 30, newTask: true },
  keepFailed: false,
}
