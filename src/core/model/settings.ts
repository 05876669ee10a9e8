/** Every setting with its type and default. The schema that checks settings files is in src/settings. */
import type { NotifyWay, PolicyLevel } from './enums.ts'

/** Which tasks auto-revert rejects. `shadow`: only those on a shadow branch, because they occupy the user's checkout. */
type AutoRevertOf = 'never' | 'shadow' | 'always'

/** The settings of one repository, as the verbs read them. */
export interface Settings {
  /** Off: `start` and `run` refuse (`OFFSHOOT_DISABLED=1` sets this). */
  readonly enabled: boolean
  readonly workspace: {
    /** Folder that holds the workspaces; relative to the repository's root, `~` expands; empty: the state folder. */
    readonly base: string
    readonly name: string
    /** Ignored files that a workspace gets as copies or as links, beside those that `.worktreeinclude` names. */
    readonly copy: readonly string[]
    readonly link: readonly string[]
  }
  readonly branch: { readonly name: string }
  /** Without a repository, or where the user switched offshoot off, `run` refuses (`none`) or runs in the folder itself (`direct`). */
  readonly isolation: { readonly fallback: 'none' | 'direct' }
  /** How many workspaces are kept ready, so that `start` need not wait for a checkout. */
  readonly pool: { readonly size: number }
  /** The first network port for tasks, and how many each task gets; 0: none. */
  readonly ports: { readonly base: number; readonly size: number }
  readonly limits: {
    readonly perRepo: number
    /** Runs at once in one repository; the others queue. */
    readonly concurrent: number
    /** Runs at once in all repositories, and of one agent in all of them; 0: no limit. */
    readonly global: number
    readonly perAgent: number
    /** The time limit of a run; 0: none. */
    readonly timeMinutes: number
    /** How many answers of its model an agent may use in a run; 0: no limit. */
    readonly turns: number
  }
  /** The agent that `run` starts; empty: the first that is installed. */
  readonly agent: {
    readonly name: string
    /** Files of modules that export the user's own agents. */
    readonly adapters: readonly string[]
  }
  readonly policy: {
    readonly level: PolicyLevel
    readonly allowed: readonly string[]
    readonly denied: readonly string[]
    /** How long a question waits where nobody is at a terminal: `30s`, `10m`, `2h`; `auto`: only in a detached run. */
    readonly askTimeout: string
  }
  readonly checkpoints: {
    /** When steps become commits on the task's branch. */
    readonly publish: 'runEnd' | 'always' | 'never'
  }
  readonly accept: {
    /** The messages of commits when the user gives none. */
    readonly squashMessage: string
    readonly mergeMessage: string
    /** Whether what failed tools left lands with the rest. */
    readonly leftovers: 'land' | 'leave'
  }
  readonly pr: {
    /** The remote that the branch of a pull request is pushed to: its name or its address. */
    readonly remote: string
    readonly tool: 'auto' | 'gh' | 'glab'
  }
  /** The command line that `open` runs with the workspace as its last argument; empty: `VISUAL`, else `EDITOR`, else an editor that is found. */
  readonly editor: { readonly command: string }
  readonly notify: {
    /** How the user is told that a run of an agent has ended, or waits for an answer. */
    readonly how: readonly NotifyWay[]
    /** The shell command of `command`; empty: none. */
    readonly command: string
  }
  /** Shell commands; empty: none. */
  readonly hooks: {
    readonly postStart: string
    readonly preRun: string
    readonly preAccept: string
    readonly postAccept: string
    readonly preRemove: string
    readonly timeoutSeconds: number
  }
  readonly lock: { readonly waitSeconds: number }
  /** How often recovery runs by itself; 0: never. */
  readonly recover: { readonly everyMinutes: number }
  readonly prune: {
    readonly maxAgeDays: number
    readonly minKeep: number
    /** A task whose run succeeded is pruned at once; its branch stays. */
    readonly cleanupOnComplete: boolean
    /** A task with files that no commit and no step holds is not pruned. */
    readonly protectUncommitted: boolean
    readonly warnUncommitted: boolean
    /** The branches of pruned tasks stay. */
    readonly keepBranches: boolean
    /** How often the daemon prunes by itself; 0: never. */
    readonly everyHours: number
  }
  readonly trash: {
    /** How long closed tasks can be brought back. */
    readonly keepDays: number
    /** How much disk the trash and the vault of one repository may use together. */
    readonly maxMegabytes: number
  }
  readonly disk: { readonly warnPercent: number }
  /** When auto-revert rejects a task without being asked. */
  readonly autoRevert: {
    readonly failure: AutoRevertOf
    readonly shutdown: AutoRevertOf
    readonly idle: AutoRevertOf
    readonly idleMinutes: number
    /** On: a new task in a checkout rejects the one that works there. Off: the new task is refused. */
    readonly newTask: boolean
  }
  /** When auto-revert rejects a failed task, its branch stays. */
  readonly keepFailed: boolean
}

/** One setting as it counts, with the place that it comes from. */
export interface Setting {
  readonly key: string
  readonly value: unknown
  /** `default`, a file, the name of a variable, or `flag`. */
  readonly origin: string
  /** It comes from the repository's own file. */
  readonly isForeign: boolean
  /** The value of the repository's own file, which would count if the user trusted it. */
  readonly waiting?: unknown
}

/** A value of a repository's own file that counts only when the user trusts it. */
export interface RestrictedValue {
  readonly key: string
  readonly value: unknown
}

export const defaultSettings: Settings = {
  enabled: true,
  workspace: { base: '', name: '{task}-{date}-{time}', copy: [], link: [] },
  branch: { name: 'offshoot/{task}' },
  isolation: { fallback: 'none' },
  pool: { size: 1 },
  ports: { base: 20_000, size: 10 },
  limits: { perRepo: 10, concurrent: 10, global: 20, perAgent: 0, timeMinutes: 0, turns: 0 },
  agent: { name: '', adapters: [] },
  // Every agent's own names for reading tools count as `Read`, too.
  policy: { level: 'permissive', allowed: ['Read', 'Glob', 'Grep', 'LS'], denied: [], askTimeout: 'auto' },
  checkpoints: { publish: 'runEnd' },
  accept: { squashMessage: '{title}', mergeMessage: 'Merge the work of {task}', leftovers: 'land' },
  pr: { remote: 'origin', tool: 'auto' },
  editor: { command: '' },
  notify: { how: [], command: '' },
  hooks: { postStart: '', preRun: '', preAccept: '', postAccept: '', preRemove: '', timeoutSeconds: 600 },
  lock: { waitSeconds: 30 },
  recover: { everyMinutes: 5 },
  prune: {
    maxAgeDays: 7,
    minKeep: 2,
    cleanupOnComplete: false,
    protectUncommitted: true,
    warnUncommitted: true,
    keepBranches: false,
    everyHours: 0,
  },
  trash: { keepDays: 30, maxMegabytes: 10_000 },
  disk: { warnPercent: 90 },
  autoRevert: { failure: 'shadow', shutdown: 'shadow', idle: 'shadow', idleMinutes: 30, newTask: true },
  keepFailed: false,
}
