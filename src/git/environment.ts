import path from 'node:path'

// biome-ignore format: a list
/** Events whose hooks git 2.54 and later also take from the config, where core.hooksPath does not reach them. */
const hookEvents = [
  'applypatch-msg', 'pre-applypatch', 'post-applypatch', 'pre-commit', 'pre-merge-commit', 'prepare-commit-msg',
  'commit-msg', 'post-commit', 'pre-rebase', 'post-checkout', 'post-merge', 'pre-push', 'post-rewrite',
  'post-index-change', 'reference-transaction', 'pre-auto-gc', 'fsmonitor-watchman', 'push-to-checkout',
  'sendemail-validate', 'p4-changelist', 'p4-prepare-changelist', 'p4-post-changelist', 'p4-pre-submit',
]

/** What none of our calls may be moved by, whatever the repository's or the user's config says. */
const neutral: Record<string, string> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.untrackedCache': 'false',
  'core.splitIndex': 'false',
  'core.quotePath': 'false',
  'index.sparse': 'false',
  'core.protectNTFS': 'true',
  'core.protectHFS': 'true',
  'core.pager': 'cat',
  'core.askPass': '',
  'color.ui': 'false',
  'advice.detachedHead': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'submodule.recurse': 'false',
  'diff.ignoreSubmodules': 'all',
  'status.submoduleSummary': 'false',
  'protocol.allow': 'never',
  'safe.bareRepository': 'explicit',
  // The first entry of a branch's log proves that we made the branch.
  'core.logAllRefUpdates': 'true',
  ...Object.fromEntries(hookEvents.map((event) => [`hook.${event}.enabled`, 'false'])),
}

/** For plumbing: no conversion of bytes, no driver of anybody's. */
const raw: Record<string, string> = {
  'core.autocrlf': 'false',
  'core.attributesFile': '/dev/null',
}

/** Variables of the user's that git, ssh-less and prompt-less, may still see. */
const allowed = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'TMPDIR',
  'XDG_CONFIG_HOME',
  'SUDO_UID',
  'SystemRoot',
  'USERPROFILE',
]

/** And those without which it cannot reach another machine. */
const allowedOut = [
  'SSH_AUTH_SOCK',
  'SSH_AGENT_PID',
  'GIT_SSH',
  'GIT_SSH_COMMAND',
  'http_proxy',
  'https_proxy',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'no_proxy',
  'NO_PROXY',
]

/** Who the user is, when the environment says it, as for `git commit`. */
const whoIsIt = ['GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL', 'GIT_COMMITTER_NAME', 'GIT_COMMITTER_EMAIL']

export interface GitScope {
  readonly gitDir?: string
  readonly workTree?: string
  readonly indexFile?: string
  /** Paths are patterns; otherwise they are names, whatever they contain. */
  readonly globs?: boolean
  /** Objects go there instead of into the git folder's own. */
  readonly objectDir?: string
  /** Written through to the disk before git returns. */
  readonly durable?: boolean
  /** More settings, for this call. */
  readonly settings?: readonly (readonly [key: string, value: string])[]
  /** Object folders to read from, never to rely on when writing. */
  readonly alternates?: readonly string[]
  /**
   * `raw` (the default): our own plumbing, deaf to the user's and the system's config. `user`: the user's own
   * conversions and filters count, as when a workspace is filled; hooks and prompts stay off.
   */
  readonly config?: 'raw' | 'user'
  /** May reach other repositories, by the protocols that git itself takes for harmless. */
  readonly network?: boolean
  /** Is asked who the user is. */
  readonly identity?: boolean
  /** Tells how far it is, if it is asked to, after one second instead of two. */
  readonly progress?: boolean
  /** Runs the hooks of the repository: only for what a user has asked for. */
  readonly hooks?: boolean
}

/** The whole environment of one git call: nothing is inherited but an allow-list, so no GIT_* of ours or others'. */
export function gitEnvironment(from: NodeJS.ProcessEnv, scope: GitScope): Record<string, string> {
  const env: Record<string, string> = {}
  const inherited = [...allowed, ...(scope.network ? allowedOut : []), ...(scope.identity ? whoIsIt : [])]
  for (const name of inherited) {
    const value = from[name]
    if (value !== undefined) env[name] = value
  }
  Object.assign(env, {
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_PAGER: 'cat',
    GIT_EDITOR: 'false',
    ...(!scope.network && { GIT_ALLOW_PROTOCOL: '' }),
    ...(scope.progress && { GIT_PROGRESS_DELAY: '1' }),
  })
  if (!scope.globs) env.GIT_LITERAL_PATHSPECS = '1'
  const config = Object.fromEntries(Object.entries(neutral).filter(([key]) => isNeutralised(key, scope)))
  if (scope.config !== 'user') {
    Object.assign(env, { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_ATTR_NOSYSTEM: '1' })
    Object.assign(config, raw)
    // What we write into a log is ours, whoever the user is.
    Object.assign(env, { GIT_COMMITTER_NAME: 'offshoot', GIT_COMMITTER_EMAIL: 'offshoot@localhost' })
  }
  if (scope.gitDir !== undefined) env.GIT_DIR = scope.gitDir
  if (scope.workTree !== undefined) env.GIT_WORK_TREE = scope.workTree
  if (scope.indexFile !== undefined) env.GIT_INDEX_FILE = scope.indexFile
  if (scope.alternates !== undefined)
    env.GIT_ALTERNATE_OBJECT_DIRECTORIES = scope.alternates.map(listItem).join(path.delimiter)
  if (scope.objectDir !== undefined) env.GIT_OBJECT_DIRECTORY = scope.objectDir
  if (scope.durable) Object.assign(config, { 'core.fsync': 'all', 'core.fsyncMethod': 'fsync' })
  const entries = [...(scope.settings ?? []), ...Object.entries(config)]
  env.GIT_CONFIG_COUNT = String(entries.length)
  entries.forEach(([key, value], index) => {
    env[`GIT_CONFIG_KEY_${index}`] = key
    env[`GIT_CONFIG_VALUE_${index}`] = value
  })
  return env
}

function isNeutralised(key: string, { network, hooks }: GitScope): boolean {
  if (network && (key === 'protocol.allow' || key === 'core.askPass')) return false
  return !(hooks && (key === 'core.hooksPath' || key.startsWith('hook.')))
}

/** Git splits that list at colons, unless an item is quoted. */
function listItem(folder: string): string {
  return /^"|:/.test(folder) ? JSON.stringify(folder) : folder
}
