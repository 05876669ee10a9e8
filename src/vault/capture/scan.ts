/** The paths of a workspace that may have changed since it was made. Git compares; its answer is a superset. */
import { allEnded } from '../../core/base/concurrency.ts'
import { type BytePath, fromText, splitNul } from '../../core/model/bytes.ts'
import type { GitExec } from '../../git/exec.ts'
import { byUserRules, syncExcludes } from './ignore-rule.ts'
import { withoutWaiting } from './pipes.ts'
import { callScope, type ScanScope } from './scan-scope.ts'

export interface Scanned {
  /** Files of the index that look different or are gone. */
  readonly tracked: BytePath[]
  /** Files outside of the index that no rule ignores. A nested repository is one path that ends in a slash. */
  readonly untracked: BytePath[]
  /** Folders that could not be read, ending in a slash. */
  readonly unreadable: BytePath[]
}

export async function scanAll(exec: GitExec, scope: ScanScope, signal?: AbortSignal): Promise<Scanned> {
  await syncExcludes(scope)
  const common = callScope(scope, signal)
  const listing = allEnded([
    exec({ args: ['ls-files', '-z', '--modified', '--deleted'], ...common }),
    exec({ args: ['ls-files', '-z', '--others', byUserRules], ...common }),
  ])
  const [tracked, untracked] = await withoutWaiting(scope.workspace, listing)
  return {
    tracked: splitNul(tracked.stdout),
    untracked: splitNul(untracked.stdout),
    unreadable: unreadableFolders(untracked.stderr),
  }
}

/** The folders that git warns of. Of a path that is too long for a system call, the warning has only the beginning. */
export function unreadableFolders(warnings: string): BytePath[] {
  const refused = warnings.matchAll(/^warning: could not open directory '(.*?)(?:': ([^'/]*))?$/gm)
  return Array.from(refused, ([, folder = '', why]) => {
    if (why === undefined) return fromText(folder.slice(0, folder.lastIndexOf('/') + 1))
    // A folder that was deleted meanwhile hides nothing.
    return why.startsWith('No such') ? '' : fromText(folder)
  }).filter(Boolean)
}

export async function scan(exec: GitExec, scope: ScanScope, signal?: AbortSignal): Promise<Set<BytePath>> {
  const { tracked, untracked } = await scanAll(exec, scope, signal)
  return new Set([...tracked, ...untracked])
}

/**
 * Makes the index younger than the files it describes. Git keeps times in seconds: as long as both are of the same
 * second, git has to read every file again to know that it did not change.
 */
export async function refreshIndex(exec: GitExec, scope: ScanScope, signal?: AbortSignal): Promise<boolean> {
  const common = callScope(scope, signal)
  // Git writes the index anew, and this is how it is told the permissions.
  const settings = [...common.settings, ['core.sharedRepository', '0600']] as const
  const asked = exec({ args: ['update-index', '-q', '--refresh'], expect: [1, 128], ...common, settings })
  return (await withoutWaiting(scope.workspace, asked)).code !== 128
}
