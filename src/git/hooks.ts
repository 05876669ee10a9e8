/** Hooks of the user's repository: git runs them, and only if the user asked for them. */
import type { HookCall, HookEnd } from '../core/model/git.ts'
import type { Place } from '../core/model/repo.ts'
import type { GitExec } from './exec.ts'

/** Every exit code of a hook is an answer. */
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
    // The hook is the user's own program, which may fetch.
    network: true,
    expect: anyCode,
    signal,
  })
  return { ok: code === 0, said: stderr.trim() }
}
