/** Hooks of the user's repository: run by git itself, and only when the user has asked for them. */
import type { HookCall, HookEnd } from '../core/model/git.ts'
import type { Place } from '../core/model/repo.ts'
import type { GitExec } from './exec.ts'

/** Whatever a hook ends with is an answer. */
const anyCode = Array.from({ length: 255 }, (_, code) => code + 1)

export async function runHook(
  exec: GitExec,
  { gitDir, checkout }: Place,
  { name, args }: HookCall,
  signal?: AbortSignal,
): Promise<HookEnd> {
  const { code, stderr } = await exec({
    args: ['hook', 'run', '--ignore-missing', name, '--', ...args],
    gitDir,
    cwd: checkout ?? gitDir,
    config: 'user',
    hooks: true,
    // A hook is the user's own: it may fetch.
    network: true,
    expect: anyCode,
    signal,
  })
  return { ok: code === 0, said: stderr.trim() }
}
