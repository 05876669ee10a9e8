/** Programs of other users of the machine, for attacks between users. Only root can become one. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { type Outcome, tempFolder } from './repo.ts'

export const victim = 20001
export const attacker = 20002

const root = path.resolve(import.meta.dirname, '../..')

/** Why no program can be started as another user here; undefined when it can. */
export function whyNoUsers(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can become another user'
  const { status, error } = run(victim, [process.execPath, '-e', '0'], {}, '/')
  if (error) return `setpriv cannot be started: ${error.message}`
  return status === 0 ? undefined : `user ${victim} may not run ${process.execPath}`
}

function run(uid: number, argv: readonly string[], env: NodeJS.ProcessEnv, cwd: string) {
  const who = ['--reuid', String(uid), '--regid', String(uid), '--clear-groups']
  return spawnSync('setpriv', [...who, ...argv], { cwd, env, encoding: 'utf8' })
}

export function runAs(
  uid: number,
  argv: readonly string[],
  { env = {}, cwd = '/' }: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
): Outcome {
  const { status, stdout, stderr } = run(uid, argv, { PATH: process.env.PATH, ...env }, cwd)
  const last = stdout.trimEnd().split('\n').at(-1) ?? ''
  return { code: status, stdout, stderr, json: last.startsWith('{') ? JSON.parse(last) : undefined }
}

/** A folder of that user, with that mode whatever the umask. */
export function folderOf(uid: number, folder: string, mode = 0o700): string {
  mkdirSync(folder, { recursive: true })
  chownSync(folder, uid, uid)
  chmodSync(folder, mode)
  return folder
}

export function giveTo(uid: number, file: string): void {
  execFileSync('chown', ['-R', '-h', `${uid}:${uid}`, file])
}

/** The built package in a place that every user may read; returns its command. */
export function readablePackage(): string {
  const folder = path.join(tempFolder(), 'package')
  for (const part of ['bin', 'dist', 'package.json'])
    cpSync(path.join(root, part), path.join(folder, part), { recursive: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  execFileSync('chmod', ['-R', 'go+rX', path.dirname(folder)])
  return path.join(folder, 'bin', 'offshoot.js')
}
