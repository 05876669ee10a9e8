/** The environment and the settings of every git call of ours. */
import path from 'node:path'

// biome-ignore format: a list
/** Events whose hooks git 2.54 and later also takes from the config, where core.hooksPath does not apply. */
const hookEvents = [
  'applypatch-msg', 'pre-applypatch', 'post-applypatch', 'pre-commit', 'pre-merge-commit', 'prepare-commit-msg',
  'commit-msg', 'post-commit', 'pre-rebase', 'post-checkout', 'post-merge', 'pre-push', 'post-rewrite',
  'post-index-change', 'reference-transaction', 'pre-auto-gc', 'fsmonitor-watchman', 'push-to-checkout',
  'sendemail-validate', 'p4-changelist', 'p4-prepare-changelist', 'p4-post-changelist', 'p4-pre-submit',
]

/** Settings that apply to all of our calls, whatever the repository's or the user's config says. */
const forcedSettings: Record<string, string> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.untrackedCache': 'false',
  'core.splitIndex': 'false',
  // Packs have indexes of their own, so nothing is lost; a pipe in its place would hold every git of ours.
  'core.multiPackIndex': 'false',
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
  // The first entry of a branch's reflog proves that we made the branch.
  'core.logAllRefUpdates': 'true',
  ...Object.fromEntries(hookEvents.map((event) => [`hook.${event}.enabled`, 'false'])),
}

/** Settings for plumbing: no conversion of bytes, no filter or driver. */
const rawSettings: Record<string, string> = {
  'core.autocrlf': 'false',
  'core.attributesFile': '/dev/null',
}

/** The user's variables that git may see in every call. SSH and prompts need others, which it does not get. */
const inheritedNames = [
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

/** More variables for calls that reach another machine. */
const networkNames = [
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

/** The user's identity, if the environment sets it, as `git commit` reads it. */
const identityNames = ['GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL', 'GIT_COMMITTER_NAME', 'GIT_COMMITTER_EMAIL']

export interface GitScope {
  readonly gitDir?: string
  readonly workTree?: string
  readonly indexFile?: string
  /** Reads paths as patterns; otherwise git takes them literally. */
  readonly globs?: boolean
  /** The object folder to write to, instead of the git folder's own. */
  readonly objectDir?: string
  /** Makes git sync its writes to the disk before it returns. */
  readonly durable?: boolean
  /** More settings for this call. */
  readonly settings?: readonly (readonly [key: string, value: string])[]
  /** Object folders that git may read, besides the one it writes to. */
  readonly alternates?: readonly string[]
  /**
   * `raw` (the default): for our own plumbing, without the user's and the system's config. `user`: the user's own
   * conversions and filters apply, as when a workspace is filled; hooks and prompts stay off.
   */
  readonly config?: 'raw' | 'user'
  /** Lets git reach other repositories, by the protocols that git allows by default. */
  readonly network?: boolean
  /** Passes the user's identity from the environment on. */
  readonly identity?: boolean
  /** Makes a call that prints its progress begin after one second instead of two. */
  readonly progress?: boolean
  /** Runs the repository's hooks: only for calls that the user has asked for. */
  readonly hooks?: boolean
}

/** The whole environment of one git call. It inherits only an allow-list, so no GIT_* variable gets in. */
export function gitEnvironment(from: NodeJS.ProcessEnv, scope: GitScope): Record<string, string> {
  const env: Record<string, string> = {}
  const inherited = [
    ...inheritedNames,
    ...(scope.network ? networkNames : []),
    ...(scope.identity ? identityNames : []),
  ]
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
  const config = Object.fromEntries(
    Object.entries(forcedSettings).filter(([key]) => isNeutralised(key, scope)),
  )
  if (scope.config !== 'user') {
    Object.assign(env, { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_ATTR_NOSYSTEM: '1' })
    Object.assign(config, rawSettings)
    // Our entries in a reflog carry our name, whoever the user is.
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

/** Git splits this list at colons, unless an item is quoted. */
function listItem(folder: string): string {
  return /^"|:/.test(folder) ? JSON.stringify(folder) : folder
}
